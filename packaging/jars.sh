#!/usr/bin/env bash
# Copies the jars into DIRECTORY without the native libraries of other systems, which are two thirds of them: jars.sh ARCHITECTURE DIRECTORY. Debian's name of the architecture.
. "$(dirname "$0")/../.make/lib.sh"

case "$1" in
  amd64) own=linux64 zstd=linux-amd64 jni=x86_64-Linux jna=linux-x86-64 ;;
  arm64) own=linux-aarch64 zstd=linux-aarch64 jni=aarch64-Linux jna=linux-aarch64 ;;
  *) die "no native libraries for the architecture $1" ;;
esac
mkdir -p "$2"
python3 - "$2" "$own" "$zstd" "$jni" "$jna" "$ROOT/ipc-endpoint/server/target/kakehashi-endpoint.jar" \
  "$ROOT/ipc-endpoint/tools/target/kakehashi-tools.jar" <<'PYTHON'
import pathlib, re, struct, sys, zipfile

target, rocksdb, compressor, jffi, jna, *jars = sys.argv[1:]
FAMILIES = [
    (re.compile(r"librocksdbjni-(.+)\.(?:so|jnilib|dll)"), rocksdb),
    (re.compile(r"aircompressor/([^/]+)/.+"), compressor),
    (re.compile(r"jni/([^/]+)/.+"), jffi),
    (re.compile(r"com/sun/jna/([^/]+)/(?:lib)?jnidispatch\..+"), jna),
]


def wanted(name):
    return all(not (found := pattern.fullmatch(name)) or found[1] == own for pattern, own in FAMILIES)


def compressed(source, entry):
    """The bytes as they are in the file: nothing is compressed anew."""
    source.fp.seek(entry.header_offset)
    header = source.fp.read(30)
    name, extra = struct.unpack("<HH", header[26:30])
    source.fp.seek(entry.header_offset + 30 + name + extra)
    return source.fp.read(entry.compress_size)


for jar in map(pathlib.Path, jars):
    with zipfile.ZipFile(jar) as source, open(pathlib.Path(target) / jar.name, "wb") as out:
        directory = []
        for entry in source.infolist():
            if not wanted(entry.filename):
                continue
            name = entry.filename.encode()
            year, month, day, hour, minute, second = entry.date_time
            when = (hour << 11 | minute << 5 | second // 2, (year - 1980) << 9 | month << 5 | day)
            fields = struct.pack("<HHHHHLLLHH", 20, 0x800, entry.compress_type, *when, entry.CRC, entry.compress_size, entry.file_size, len(name), 0)
            directory.append(b"PK\1\2" + struct.pack("<H", 0x314) + fields + struct.pack("<HHHLL", 0, 0, 0, entry.external_attr, out.tell()) + name)
            out.write(b"PK\3\4" + fields + name + compressed(source, entry))
        begin = out.tell()
        out.writelines(directory)
        size = out.tell() - begin
        count = len(directory)
        if count >= 0xFFFF:
            out_at = out.tell()
            out.write(b"PK\6\6" + struct.pack("<QHHLLQQQQ", 44, 45, 45, 0, 0, count, count, size, begin))
            out.write(b"PK\6\7" + struct.pack("<LQL", 0, out_at, 1))
        shown = min(count, 0xFFFF)
        out.write(b"PK\5\6" + struct.pack("<HHHHLLH", 0, 0, shown, shown, size, begin, 0))
    print(f"{jar.name}: {jar.stat().st_size >> 20} MB, {(pathlib.Path(target) / jar.name).stat().st_size >> 20} MB in the package")
PYTHON
