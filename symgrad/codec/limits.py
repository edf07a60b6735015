"""How large a document may be: what is read takes bounded time and memory, whoever wrote it."""

#: bytes of a document
MAX_BYTES = 64 * 2**20
#: commas, brackets and braces of a document, which bound the values in it
MAX_SIGNS = 4_000_000
#: lists and objects within one another
MAX_NESTED = 40
#: loops within one another, which nest four lists and objects each
MAX_LOOPS_WITHIN = 6
#: digits of a number
MAX_DIGITS = 400
#: inputs, nodes and outputs
MAX_INPUTS, MAX_NODES, MAX_OUTPUTS = 10_000, 100_000, 100_000
#: operands of a node, and of a contraction
MAX_OPERANDS, MAX_FACTORS = 10_000, 64
#: axes of an array, as NumPy has it, and letters of a contraction, as ``np.einsum`` has them
MAX_AXES, MAX_LETTERS = 64, 52
#: a size, and the elements of an array: none that any machine holds is refused
LARGEST_SIZE, MAX_ELEMENTS = 2**40, 2**48
#: elements of an array that are written out as numbers, and that are read so
MAX_LISTED, MAX_READ = 256, 100_000
#: elements of the arrays of a check
MAX_CHECKED = 5_000_000
#: characters of a name, and of a sentence
LONGEST_NAME, LONGEST_TEXT = 1_000, 2_000
#: named dims, signs in a size, terms of it multiplied out, its exponents and the bits of its numbers
MAX_NAMES, MAX_DIM_SIGNS, MAX_TERMS, LARGEST_EXPONENT, MAX_BITS = 100, 100, 100, 8, 63
#: signs of all different sizes together, and terms of all sizes that are compared
MAX_SIGNS_OF_DIMS, MAX_TERMS_COMPARED = 20_000, 3_000
#: leaves of a result
MAX_LEAVES = 100_000
