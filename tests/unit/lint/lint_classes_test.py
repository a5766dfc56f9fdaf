"""The check of tests/lint_classes.py: what it takes for a function of a class, and what not."""

import unittest

from lint_classes import function_counts
from lint_file import File
from lint_text import findings


class Case(unittest.TestCase):
    def assert_counts(self, text: str, *expected: tuple[int, str, int]) -> None:
        self.assertEqual(list(function_counts(text)), list(expected), text)

    def assert_each(self, functions: int, *members: str) -> None:
        """Each of the members declares that number of functions of a class `It`."""
        for member in members:
            with self.subTest(member):
                self.assert_counts(f"class It {{\n{member}\n int last_;\n}};", (1, "It", functions))


class Functions(Case):
    def test_declarations_and_definitions_count_alike(self) -> None:
        self.assert_each(
            1,
            "void f();",
            "Result<std::map<int, std::string>> f(const A& a = {}, int b = 3) const;",
            "public: static const char* const* f(int) noexcept(true);",
            "[[nodiscard]] ::std::string f() &&;",
            "auto f() const -> std::vector<int>;",
            "decltype(auto) f();",
            "int f() const { return g(1) ? h{2} : i[3]; }",
            "void f() {};",
            "virtual int f() = 0;",
            "int f() override final { if (a) { b(); } }",
            "int f() TW_REQUIRES(mutex_);",
            "TW_API(1) int f();",
            "struct stat f();",
        )

    def test_constructors_and_destructors_count(self) -> None:
        self.assert_each(
            1,
            "It();",
            "explicit It(int a);",
            "explicit(is_plain) It(int a);",
            "It(int a) : a_(a), b_{1}, Base{a} {}",
            "It(int a) noexcept : a_{a} { f(); }",
            "template <class T> It(T a) : a_(a) {}",
            "It(int a) try : a_(a) {} catch (...) { f(); }",
            "~It();",
            "virtual ~It() {}",
        )
        self.assert_counts("class GRU {\n GRU(int);\n GRU() noexcept;\n};", (1, "GRU", 2))

    def test_templates_count_once(self) -> None:
        self.assert_each(
            1,
            "template <class T> void f(T);",
            "template <typename T, int n = (2 > 1)> T f() { return {}; }",
            "template <class T>\n requires std::integral<T> && (sizeof(T) > 1)\n void f(T) {}",
            "template <class T> requires requires(T t) { t(); } void f(T);",
            "template <template <class> class T, class... U> T<U...> f(U...);",
        )

    def test_operators_count(self) -> None:
        self.assert_each(
            1,
            "It& operator=(const It&);",
            "bool operator()(int) const { return true; }",
            "int operator[](int) const;",
            "auto operator<=>(const It&) const;",
            "It* operator->();",
            "bool operator<(const It&) const;",
            "explicit operator bool() const { return true; }",
            "operator const char*();",
            "operator std::vector<int>() const;",
            "template <class T> It& operator<<(const T&);",
            "void* operator new[](std::size_t);",
        )

    def test_several_in_a_row_are_told_apart(self) -> None:
        self.assert_each(3, "int f() {}\n It() {} int g();", "int f(); int g() {} ~It() {}")
        self.assert_each(2, "int a{1}; int f() {} int b = {2}; int g();")

    def test_defaulted_and_deleted_ones_and_friends_do_not_count(self) -> None:
        self.assert_each(
            0,
            "It() = default;",
            "It(It&&) noexcept = default;",
            "virtual ~It() = default;",
            "bool operator==(const It&) const = default;",
            "It& operator=(const It&) = delete;",
            "friend bool operator==(const It& a, const It& b) { return f(a, b); }",
            "template <class T> friend void f(T);",
            "using Base::Base;",
            "using Base::operator=;",
        )


class Data(Case):
    def test_members_that_are_called_are_data(self) -> None:
        self.assert_each(
            0,
            "std::function<void(int)> f;",
            "std::function<Result<bool>(const It&)> f, g;",
            "std::function<int()> f = [](int a) { return g(a); };",
            "int (*f)(int) = nullptr;",
            "Status (It::*f)(int) const;",
            "using F = void (*)(int);",
            "using F = void(int);",
            "typedef void F(int);",
        )

    def test_initialisers_are_no_functions(self) -> None:
        self.assert_each(
            0,
            "int a = f(3);",
            "int a{f(3)};",
            "std::vector<int> a{1, 2}, b = {f(3)};",
            "A a = A{1}.with(2) / f(3);",
            "A a = A{1} + f(3);",
            "static constexpr int a = sizeof(int) < 4 ? f(1) : g(2);",
            "bool a = b < c;  bool d = e > f();",
            "int (&a)[3];",
            "decltype(f()) a;",
            "alignas(64) int a;",
            "int a : f(1);",
            "[[deprecated(f())]] int a;",
        )

    def test_macros_and_other_declarations_are_no_functions(self) -> None:
        self.assert_each(
            0,
            "TW_NOT_COPIED(It);",
            "TW_NOT_COPIED(It)",
            "int a TW_GUARDED_BY(mutex_);",
            'static_assert(f() > 1, "f();");',
            "enum class E : int { a = f(1), b };",
            "struct stat a;",
        )

    def test_comments_texts_and_directives_are_no_code(self) -> None:
        self.assert_each(
            0,
            "// void f(); {",
            "/* void f();\n { */",
            "int a;  ///< f() {",
            'A a{"void f(); { \\" }"};',
            'A a{R"x(void f(); " )" } )x"};',
            "char a = '{', b = '\\'', c = u8'\"';",
            "long a = 1'000'000;  long b = 0x1'F; // '",
            "#define F(a) void a() { \\\n }} ",
        )


class Classes(Case):
    def test_nested_and_local_classes_count_by_themselves(self) -> None:
        self.assert_counts(
            "class Outer {\n  void f();\n"
            "  struct Inner {\n    void g() {}\n    int h();\n  } inner_;\n  struct Later;\n};\n"
            "void k() {\n  struct Local : Base {\n    int m() const;\n  };\n}\n",
            (1, "Outer", 1),
            (3, "Inner", 2),
            (10, "Local", 1),
        )

    def test_every_kind_of_head_is_known(self) -> None:
        for head, name in (
            ("class It final : public A<B>, private ::C", "It"),
            ("struct [[nodiscard]] It", "It"),
            ("struct alignas(64) It", "It"),
            ("template <class T>\nstruct It<T, std::enable_if_t<(sizeof(T) > 1)>> : A", "It"),
            ("template <>\nstruct std::It<A>", "It"),
            ("struct Outer::It", "It"),
            ("union It", "It"),
            ("static const struct", "without a name"),
        ):
            with self.subTest(head):
                line = head.count("\n") + 1
                self.assert_counts(f"{head} {{\n void f();\n}};", (line, name, 1))

    def test_what_only_names_a_class_is_none(self) -> None:
        self.assert_counts(
            "class A;\nenum class B { c };\nenum struct D : int { e };\n"
            "template <class T> void f() {}\nstruct stat g() { return {}; }\nfriend class H;\n"
        )

    def test_a_class_may_have_twenty_functions(self) -> None:
        def found(functions: int) -> list[str]:
            text = "// Ab\nclass It {\n" + "  int f();\n" * functions + "};\n"
            file = File("a.hpp", text, frozenset(), lambda _: "")
            return [f"{finding.line}: {finding.text}" for finding in findings(file)]

        self.assertEqual(found(20), [])
        self.assertEqual(found(21), ["2: class It has 21 functions, split it (20 at most)"])


if __name__ == "__main__":
    unittest.main()
