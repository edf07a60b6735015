/* How Python calls the kernel. Python's part of the stable ABI is declared here, so that no header is needed. */
typedef struct {
  void *buf, *obj;
  ptrdiff_t len, itemsize;
  int readonly, ndim;
  char *format;
  ptrdiff_t *shape, *strides, *suboffsets;
  void *internal;
} buffer_t;
typedef struct { const char *name; void *function; int flags; const char *doc; } method_t;

extern int PyObject_GetBuffer(void *, buffer_t *, int);
extern void PyBuffer_Release(buffer_t *);
extern void *PyEval_SaveThread(void);
extern void PyEval_RestoreThread(void *);
extern void PyErr_Clear(void);
extern void *PyLong_FromLong(long);
extern ptrdiff_t PyLong_AsSsize_t(void *);
extern void *PyCapsule_New(void *, const char *, void *);
extern void *PyCapsule_GetPointer(void *, const char *);
extern void *PyCFunction_NewEx(method_t *, void *, void *);
extern void Py_DecRef(void *);

#define CONTIGUOUS 0x38
#define METH_FASTCALL 0x80

/* A plan is a stream of steps: function, number of pointers, number of sizes, outer extent, words of the step;
   then for each pointer the one that it begins with, its offset, what a turn (or a chunk) adds to it, and what every
   second turn does, in bytes; then the sizes. Of a loop these are the numbers of words of its steps before the first
   turn and of those of a turn, the number of the latter and of their pointers, then these words. */
typedef struct { const int64_t *words; int64_t first, last, arrays, arena, long_running; } segment_t;

static void run_steps(const int64_t *w, const int64_t *end, char **bases, int64_t lo, int64_t hi, int64_t chunk) {
  while (w < end) {
    int64_t pointers = w[1];
    const int64_t *e = w + 5;
    char *p[pointers + 1];
    for (int64_t k = 0; k < pointers; k++, e += 4) p[k] = bases[e[0]] + e[1] + chunk * e[2];
    steps[w[0]](p, e, lo < 0 ? 0 : lo, lo < 0 ? w[3] : hi);
    w += w[4];
  }
}

typedef struct { step_t function; char **pointers; const int64_t *sizes; int64_t outer; } call_t;

/* The turns of a loop from one on, before another; what all of them need is done before the first. */
static void turns(char **p, const int64_t *d, int64_t lo, int64_t hi) {
  const int64_t *once = d + 4, *each = once + d[0], *end = each + d[1], count = d[2], pointers = d[3];
  call_t calls[count + 1], *call = calls;
  char *at[pointers + 1];
  ptrdiff_t moves[2][pointers + 1], k = 0;
  if (lo == 0 && hi > 0) run_steps(once, each, p, -1, 0, 0);
  for (const int64_t *w = each; w < end; w += w[4], call++) {
    const int64_t *e = w + 5, *sizes = e + 4 * w[1];
    *call = (call_t){steps[w[0]], at + k, sizes, w[3]};
    for (; e < sizes; e += 4, k++) {
      at[k] = p[e[0]] + e[1] + lo * e[2] + (lo & 1) * e[3];
      moves[0][k] = e[2] + e[3];
      moves[1][k] = e[2] - e[3];
    }
  }
  for (int64_t turn = lo; turn < hi; turn++) {
    for (const call_t *c = calls; c < call; c++) c->function(c->pointers, c->sizes, 0, c->outer);
    for (k = 0; k < pointers; k++) at[k] += moves[turn & 1][k];
  }
}

/* Runs a segment on arrays; answers 0, or 1 + the number of an array that is not contiguous. */
static long run_on(const segment_t *s, void *const *args, int64_t lo, int64_t hi, int64_t chunk) {
  buffer_t buffers[s->arrays + 1];
  char *bases[s->arrays + 1];
  for (int64_t k = 0; k < s->arrays; k++) {
    if (PyObject_GetBuffer(args[k], &buffers[k], CONTIGUOUS)) {
      PyErr_Clear();
      while (k-- > 0) PyBuffer_Release(&buffers[k]);
      for (k = 0; k < s->arrays; k++) {
        if (PyObject_GetBuffer(args[k], &buffers[k], CONTIGUOUS)) { PyErr_Clear(); return k + 1; }
        PyBuffer_Release(&buffers[k]);
      }
      return s->arrays + 1;
    }
    bases[k] = buffers[k].buf;
  }
  char own[s->arena + 64];
  bases[s->arrays] = (char *)(((uintptr_t)own + 63) & ~(uintptr_t)63);
  void *state = s->long_running ? PyEval_SaveThread() : 0;
  run_steps(s->words + s->first, s->words + s->last, bases, lo, hi, chunk);
  if (state) PyEval_RestoreThread(state);
  for (int64_t k = 0; k < s->arrays; k++) PyBuffer_Release(&buffers[k]);
  return 0;
}

static void *whole(void *self, void *const *args, ptrdiff_t count) {
  (void)count;
  return PyLong_FromLong(run_on(PyCapsule_GetPointer(self, 0), args, -1, 0, 0));
}

static void *part(void *self, void *const *args, ptrdiff_t count) {
  int64_t lo = PyLong_AsSsize_t(args[0]), hi = PyLong_AsSsize_t(args[1]), chunk = PyLong_AsSsize_t(args[2]);
  (void)count;
  return PyLong_FromLong(run_on(PyCapsule_GetPointer(self, 0), args + 3, lo, hi, chunk));
}

static method_t methods[] = {
    {"run", (void *)whole, METH_FASTCALL, "run(*arrays)"},
    {"run_part", (void *)part, METH_FASTCALL, "run_part(lo, hi, chunk, *arrays)"},
};

/* The Python callable of a segment, which must outlive it. */
void *bind(segment_t *segment, int64_t parts) {
  void *self = PyCapsule_New(segment, 0, 0);
  void *callable = self ? PyCFunction_NewEx(&methods[parts != 0], self, 0) : 0;
  if (self) Py_DecRef(self);
  return callable;
}

