"""What else lands on the source day: sources of the library that no benchmark feels, Python,
documents and tests. Each edit has a place of its own; all subjects are invented."""

from changes import NATIVE, Change, Edit

AUTOGRAD = "torch/csrc/autograd/"
NOTES = "docs/source/notes/"


def _source(subject: str, path: str, old: str, new: str) -> Change:
    return Change(subject, (Edit(path, old, new),), "harmless")


def _other(subject: str, path: str, old: str, new: str) -> Change:
    return Change(subject, (Edit(path, old, new),))


SOURCES = (
    _source(
        "[ATen] Name the elements of a step in vectorised reductions",
        NATIVE + "cpu/Reduce.h",
        """\
  constexpr int64_t vector_stride = 4 * Vec::size() * sizeof(scalar_t);
  int64_t count = n / (4 * Vec::size());
""",
        """\
  constexpr int64_t step_size = 4 * Vec::size();
  constexpr int64_t vector_stride = step_size * sizeof(scalar_t);
  const int64_t count = n / step_size;
""",
    ),
    _source(
        "[ATen] Compute the end of the vectors once in cat",
        NATIVE + "cpu/CatKernel.cpp",
        """\
      int64_t d = 0;
      for (; d < local_inner - (local_inner % Vec::size()); d += Vec::size()) {
""",
        """\
      int64_t d = 0;
      const int64_t vectors_end = local_inner - (local_inner % Vec::size());
      for (; d < vectors_end; d += Vec::size()) {
""",
    ),
    _source(
        "[ATen] Say which input feature dropout was given",
        NATIVE + "Dropout.cpp",
        '"Feature dropout requires at least 2 dimensions in the input");',
        '"Feature dropout requires at least 2 dimensions in the input, got ", input.dim());',
    ),
    _source(
        "[ATen] Say which beta smooth_l1_loss was given",
        NATIVE + "Loss.cpp",
        """\
  TORCH_CHECK(beta >= 0, "smooth_l1_loss does not support negative values for beta.")
  // TODO""",
        """\
  TORCH_CHECK(beta >= 0, "smooth_l1_loss does not support negative values for beta, got ", beta);
  // TODO""",
    ),
    _source(
        "[ATen] Add up hinge_embedding_loss where it is reduced",
        NATIVE + "Loss.cpp",
        "  auto output_self = at::where(target != -1, self, zeros);\n"
        "  auto output = output_margin + output_self;\n"
        "  return apply_loss_reduction(output, reduction);\n",
        "  auto output_self = at::where(target != -1, self, zeros);\n"
        "  return apply_loss_reduction(output_margin + output_self, reduction);\n",
    ),
    _source(
        "[autograd] Say what became of a leaf that has a history",
        AUTOGRAD + "functions/accumulate_grad.cpp",
        '        "leaf variable has been moved into the graph interior");\n',
        '        "leaf variable has been moved into the graph interior, "\n'
        '        "so that its gradient has no place");\n',
    ),
    _source(
        "[autograd] Count the gradients that a node was to get",
        AUTOGRAD + "engine.cpp",
        '    ss << "invalid number of gradients - expected ";\n',
        '    ss << "invalid number of gradients of a node - expected ";\n',
    ),
    _source(
        "[autograd] Reserve what undefined gradients need",
        AUTOGRAD + "functions/basic_ops.cpp",
        "  output_grads.reserve(input_grads.size());\n",
        "  input_grads.reserve(output_grads.size());\n",
    ),
    _source(
        "[c10] Negate symbolic scalars with a message that names the operator",
        "c10/core/Scalar.cpp",
        'TORCH_CHECK(!isSymbolic(), "NYI negate symbolic int");',
        'TORCH_CHECK(!isSymbolic(), "the `-` operator is not supported for SymInt scalars");',
    ),
    _source(
        "[c10] Print the memory format of options as the others",
        "c10/core/TensorOptions.cpp",
        '    stream << "(nullopt)";\n',
        '    stream << "(none)";\n',
    ),
    _source(
        "[optim] Negate the learning rate of SGD once",
        "torch/csrc/api/src/optim/sgd.cpp",
        "      p.data().add_(d_p, -1 * options.lr());\n",
        "      const auto step_size = -options.lr();\n      p.data().add_(d_p, step_size);\n",
    ),
    _source(
        "[jit] Look at the type of a constant once when numbers are erased",
        "torch/csrc/jit/passes/erase_number_types.cpp",
        """\
        if (it->output()->type()->isSubtypeOf(*NumberType::get()) ||
            it->output()->type()->isSubtypeOf(*BoolType::get())) {
          at::Scalar s;
          if (it->output()->type()->isSubtypeOf(*BoolType::get())) {
""",
        """\
        const bool is_bool = it->output()->type()->isSubtypeOf(*BoolType::get());
        if (is_bool || it->output()->type()->isSubtypeOf(*NumberType::get())) {
          at::Scalar s;
          if (is_bool) {
""",
    ),
)

PYTHON = (
    _other(
        "[nn] Say by which number dim 0 must be divisible in dirac_",
        "torch/nn/init.py",
        'raise ValueError("dim 0 must be divisible by groups")',
        'raise ValueError(f"dim 0 must be divisible by groups ({groups})")',
    ),
    _other(
        "[optim] Say what lr_decay must be",
        "torch/optim/adagrad.py",
        'raise ValueError(f"Invalid lr_decay value: {lr_decay}")',
        'raise ValueError(f"Invalid lr_decay value: {lr_decay}, must be 0 or more")',
    ),
    _other(
        "[nn] Quote the probability that dropout refuses",
        "torch/nn/modules/dropout.py",
        '                f"dropout probability has to be between 0 and 1, but got {p}"\n',
        '                f"dropout probability has to be between 0 and 1, but got {p!r}"\n',
    ),
    _other(
        "[data] Quote the drop_last that a sampler refuses",
        "torch/utils/data/sampler.py",
        "but got drop_last={drop_last}",
        "but got drop_last={drop_last!r}",
    ),
)

DOCUMENTS = (
    _other(
        "[docs] Say that broadcasting copies nothing",
        NOTES + "broadcasting.rst",
        "automatically expanded to be of equal sizes (without making copies of the data).\n",
        "automatically expanded to be of equal sizes. No data is copied for that.\n",
    ),
    _other(
        "[docs] Say when a graph of autograd is made",
        NOTES + "autograd.rst",
        "Autograd is a reverse automatic differentiation system.  Conceptually,\n",
        "Autograd is a reverse automatic differentiation system.  In each forward pass,\n",
    ),
    _other(
        "[docs] Say what else makes results differ",
        NOTES + "randomness.rst",
        "reproducible between CPU and GPU executions, even when using identical seeds.\n",
        "reproducible between CPU and GPU executions, or with another number of threads,\n"
        "even when using identical seeds.\n",
    ),
    _other(
        "[docs] Name the standard of floating point numbers once",
        NOTES + "numerical_accuracy.rst",
        "For more details on floating point arithmetic and IEEE 754 standard, please see\n",
        "For more details on floating point arithmetic and this standard, please see\n",
    ),
)


def _test(subject: str, path: str, before: str, text: str) -> Change:
    """A method before the one that is named."""
    head = f"    def {before}(self):\n"
    return _other(subject, path, head, text + "\n" + head)


TESTS = (
    _test(
        "[testing] Cover dropout of nothing",
        "test/nn/test_dropout.py",
        "test_invalid_dropout_p",
        """\
    def test_dropout_of_an_empty_tensor(self):
        self.assertEqual(nn.Dropout()(torch.ones(0)).numel(), 0)
""",
    ),
    _test(
        "[testing] Cover the shape of embeddings of one index",
        "test/nn/test_embedding.py",
        "test_embedding_sparse_basic",
        """\
    def test_embedding_of_one_index(self):
        self.assertEqual(nn.Embedding(3, 5)(torch.tensor([1])).shape, (1, 5))
""",
    ),
    _test(
        "[testing] Cover average pooling of ones",
        "test/nn/test_pooling.py",
        "test_doubletensor_avg_pool2d",
        """\
    def test_avg_pool2d_of_ones(self):
        ones = torch.ones(1, 1, 4, 4)
        self.assertEqual(torch.nn.functional.avg_pool2d(ones, 2), torch.ones(1, 1, 2, 2))
""",
    ),
    _test(
        "[testing] Cover the gain of an unknown nonlinearity",
        "test/nn/test_init.py",
        "test_calculate_gain_linear",
        """\
    def test_calculate_gain_refuses_unknown_names(self):
        with self.assertRaises(ValueError):
            init.calculate_gain("nothing")
""",
    ),
)
