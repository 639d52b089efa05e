#!/bin/sh
# Builds build/caffe-root once: a Debian bullseye root with real Caffe 1.0 (CPU) and pycaffe, which the tests ask.
# Needs root (or user namespaces) and mmdebstrap or debootstrap. CAFFE_GUARD_MIRROR names another Debian mirror.
set -eu

root=${1:-build/caffe-root}
stamp=.caffe-guard-complete
mirror=${CAFFE_GUARD_MIRROR:-http://deb.debian.org/debian}

if [ -e "$root/$stamp" ]; then
    echo "Caffe is in $root already."
    exit 0
fi
if python3 -c 'import caffe' 2>/dev/null; then
    echo "python3 can import caffe: the tests use that, no root is built."
    exit 0
fi
if ! command -v mmdebstrap >/dev/null && ! command -v debootstrap >/dev/null; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get install -y --no-install-recommends mmdebstrap || {
            apt-get update && apt-get install -y --no-install-recommends mmdebstrap
        }
    else
        echo "make caffe needs mmdebstrap or debootstrap: apt install mmdebstrap" >&2
        exit 1
    fi
fi

# Built beside its place and moved there whole, so that an interrupted build is never taken for Caffe.
mkdir -p "$(dirname "$root")"
part=$root.part
rm -rf "$part"
if command -v mmdebstrap >/dev/null; then
    mmdebstrap --variant=minbase --include=caffe,python3-caffe bullseye "$part" "$mirror"
elif [ "$(id -u)" = 0 ]; then
    debootstrap --variant=minbase --include=caffe,python3-caffe bullseye "$part" "$mirror"
else
    echo "debootstrap needs root; install mmdebstrap, which does not" >&2
    exit 1
fi
touch "$part/$stamp"
rm -rf "$root"
mv "$part" "$root"
echo "Caffe is in $root."
