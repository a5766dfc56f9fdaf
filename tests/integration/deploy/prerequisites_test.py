import subprocess
import unittest

from support import DEPLOY, ScriptTest

INSTALLED = "[[ ${@: -1} == cmake || ${@: -1} == libgit2-dev ]] || echo -n installed\n"


class Prerequisites(ScriptTest):
    def setUp(self) -> None:
        super().setUp()
        self.calls = self.folder / "calls"
        self.stand_in("dpkg-query", INSTALLED)
        self.stand_in("apt-get", f'echo "$@" >> {self.calls}\n')
        self.stand_in("id", "echo 0\n")

    def install(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return self.run_script(DEPLOY / "prerequisites", *arguments, **variables)

    def test_only_missing_packages_are_installed(self) -> None:
        done = self.install()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(
            self.calls.read_text().splitlines()[-1],
            "--quiet --quiet install --yes --no-install-recommends cmake libgit2-dev",
        )

    def test_with_everything_there_apt_is_not_called(self) -> None:
        self.stand_in("dpkg-query", "echo -n installed\n")
        self.assertEqual(self.install("--tests").returncode, 0)
        self.assertFalse(self.calls.exists())

    def test_a_package_that_was_removed_but_configured_counts_as_missing(self) -> None:
        self.stand_in("dpkg-query", "echo -n config-files\n")
        self.assertIn("ninja-build", self.install("--list").stdout.split())

    def test_what_only_the_tests_need_is_installed_for_them_alone(self) -> None:
        self.stand_in("dpkg-query", "exit 1\n")
        self.assertNotIn("catch2", self.install("--list").stdout.split())
        self.assertIn("catch2", self.install("--list", "--tests").stdout.split())
        self.assertFalse(self.calls.exists())

    def test_without_root_and_sudo_the_command_to_run_is_told(self) -> None:
        self.stand_in("id", "echo 1000\n")
        for name in ("bash", "sed"):
            (self.bin / name).symlink_to(f"/bin/{name}")
        done = self.install(path=str(self.bin))
        self.assertEqual(done.returncode, 1)
        self.assertIn(
            "As root, run: apt-get update && apt-get install --no-install-recommends cmake",
            done.stderr,
        )

    def test_a_sudo_that_wants_a_password_is_not_waited_for(self) -> None:
        self.stand_in("id", "echo 1000\n")
        self.stand_in("sudo", "exit 1\n")
        done = self.install()
        self.assertEqual(done.returncode, 1)
        self.assertIn("sudo wants a password", done.stderr)

    def test_with_sudo_apt_is_called_through_it(self) -> None:
        self.stand_in("id", "echo 1000\n")
        self.stand_in("sudo", '[[ $1 == --non-interactive ]] && shift\nexec "$@"\n')
        self.assertEqual(self.install().returncode, 0)
        self.assertIn("install --yes", self.calls.read_text())

    def test_a_failing_apt_says_what_to_do(self) -> None:
        self.stand_in("apt-get", "exit 100\n")
        done = self.install()
        self.assertEqual(done.returncode, 1)
        self.assertIn("package lists could not be updated", done.stderr)

    def test_a_machine_without_apt_is_told_what_it_needs(self) -> None:
        (self.bin / "apt-get").unlink()
        (self.bin / "bash").symlink_to("/bin/bash")
        done = self.install(path=str(self.bin))
        self.assertEqual(done.returncode, 1)
        self.assertIn("no apt-get", done.stderr)
        self.assertIn("libgit2-dev", done.stderr)

    def test_an_unknown_argument_is_refused(self) -> None:
        done = self.install("--test")
        self.assertEqual(done.returncode, 1)
        self.assertIn("unknown argument --test", done.stderr)


if __name__ == "__main__":
    unittest.main()
