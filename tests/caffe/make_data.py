"""Write the files a request brings: texts, bytes, and tiny LMDB, LevelDB and HDF5 data sets.

A file's content is a str, or one of
  {"base64": ...}
  {"lmdb": [record...]} or {"leveldb": [record...]}, a record being {"key", "value": base64} or
      {"key", "channels", "height", "width", "label", "data": base64 | "float_data": [...] , "encoded": bool}
  {"hdf5": {dataset: nested list}}                               (32-bit floats)
  {"caffemodel": [{"name", "type", "blobs": [{"shape", "data": [...] | number}]}]}
  {"binaryproto": {"shape", "data": [...] | number}}             (a BlobProto, as a mean file is)
LMDB and LevelDB are written through their C libraries, on which Caffe itself stands: their Python bindings aren't there.
"""

from __future__ import annotations

import base64
import ctypes
import os

import caffe


class Unavailable(Exception):
    """The library for this kind of data set is not on this machine."""


def write_files(files):
    """Write {name: content} below the working directory, making folders where needed."""
    for name, content in files.items():
        folder = os.path.dirname(name)
        if folder:
            os.makedirs(folder, exist_ok=True)
        if isinstance(content, str):
            content = {"base64": base64.b64encode(content.encode("utf-8", "surrogateescape"))}
        ((kind, value),) = content.items()
        _WRITE[kind](name, value)


def _bytes(name, value):
    with open(name, "wb") as stream:
        stream.write(base64.b64decode(value))


def _record(record):
    """A record's (key, value) as bytes; the value is a serialised Datum unless it was given."""
    if "value" in record:
        return record["key"].encode(), base64.b64decode(record["value"])
    from caffe.proto import caffe_pb2

    datum = caffe_pb2.Datum()
    for field in ("channels", "height", "width", "label", "encoded"):
        if field in record:
            setattr(datum, field, record[field])
    if "data" in record:
        datum.data = base64.b64decode(record["data"])
    datum.float_data.extend(record.get("float_data", []))
    return record["key"].encode(), datum.SerializeToString()


def _library():
    """The process's own symbols: pycaffe's library has already pulled in lmdb and leveldb."""
    return ctypes.CDLL(caffe._caffe.__file__)


class _Value(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("data", ctypes.c_char_p)]


def _lmdb(name, records):
    library = _library()
    if not hasattr(library, "mdb_env_create"):
        raise Unavailable("this Caffe was built without LMDB")

    def call(function, *arguments):
        code = getattr(library, function)(*arguments)
        if code:
            raise OSError(f"{function}: error {code}")

    os.makedirs(name)
    environment, transaction, table = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint()
    call("mdb_env_create", ctypes.byref(environment))
    call("mdb_env_set_mapsize", environment, ctypes.c_size_t(64 << 20))
    call("mdb_env_open", environment, name.encode(), ctypes.c_uint(0), 0o644)
    call("mdb_txn_begin", environment, None, ctypes.c_uint(0), ctypes.byref(transaction))
    call("mdb_dbi_open", transaction, None, ctypes.c_uint(0), ctypes.byref(table))
    for record in records:
        key, value = (_Value(len(part), part) for part in _record(record))
        call("mdb_put", transaction, table, ctypes.byref(key), ctypes.byref(value), ctypes.c_uint(0))
    call("mdb_txn_commit", transaction)
    library.mdb_env_close.restype = None
    library.mdb_env_close(environment)


def _leveldb(name, records):
    library = _library()
    if not hasattr(library, "leveldb_open"):
        raise Unavailable("this Caffe was built without LevelDB")
    for function in ("leveldb_options_create", "leveldb_writeoptions_create", "leveldb_open"):
        getattr(library, function).restype = ctypes.c_void_p
    options = ctypes.c_void_p(library.leveldb_options_create())
    library.leveldb_options_set_create_if_missing(options, ctypes.c_ubyte(1))
    error = ctypes.c_char_p()
    store = ctypes.c_void_p(library.leveldb_open(options, name.encode(), ctypes.byref(error)))
    if error.value:
        raise OSError(error.value.decode())
    how = ctypes.c_void_p(library.leveldb_writeoptions_create())
    for record in records:
        key, value = _record(record)
        sizes = ctypes.c_size_t(len(key)), ctypes.c_size_t(len(value))
        library.leveldb_put(store, how, key, sizes[0], value, sizes[1], ctypes.byref(error))
        if error.value:
            raise OSError(error.value.decode())
    library.leveldb_close(store)


def _hdf5(name, datasets):
    try:
        import h5py
    except ImportError as error:
        raise Unavailable(str(error)) from error
    import numpy as np

    with h5py.File(name, "w") as stream:
        for key, values in datasets.items():
            stream.create_dataset(key, data=np.array(values, dtype=np.float32))


def _fill(blob, value):
    size = 1
    for extent in value["shape"]:
        size *= extent
    blob.shape.dim.extend(value["shape"])
    data = value["data"]
    blob.data.extend(data if isinstance(data, list) else [data] * size)


def _caffemodel(name, layers):
    from caffe.proto import caffe_pb2

    net = caffe_pb2.NetParameter()
    for each in layers:
        layer = net.layer.add(name=each["name"], type=each["type"])
        for value in each["blobs"]:
            _fill(layer.blobs.add(), value)
    with open(name, "wb") as stream:
        stream.write(net.SerializeToString())


def _binaryproto(name, value):
    from caffe.proto import caffe_pb2

    blob = caffe_pb2.BlobProto()
    _fill(blob, value)
    with open(name, "wb") as stream:
        stream.write(blob.SerializeToString())


_WRITE = {
    "base64": _bytes,
    "lmdb": _lmdb,
    "leveldb": _leveldb,
    "hdf5": _hdf5,
    "caffemodel": _caffemodel,
    "binaryproto": _binaryproto,
}
