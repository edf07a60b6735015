"""Programs run block by block: arrays that are longer than memory in this process, Dask's arrays on its workers.

``passes/splitting`` says what runs on a block and how the parts are put together; ``blocks`` where the blocks are,
``kernel`` what runs on one of them, in any process, ``local`` and ``dask_arrays`` run the stages.
"""
