"""Makes images with Pillow, and describes images as Pillow sees them.

Usage: images.py make FOLDER          writes the images
       images.py large FOLDER         writes the images with very many pixels
       images.py describe FILE ...    prints a description of each image as JSON
"""

import gzip
import json
import random
import struct
import sys
import zlib

import pillow_heif
from PIL import Image, ImageCms, PngImagePlugin

pillow_heif.register_heif_opener()
Image.MAX_IMAGE_PIXELS = None

COLOURS = {
    "red": (255, 0, 0),
    "green": (0, 255, 0),
    "blue": (0, 0, 255),
    "white": (255, 255, 255),
    "black": (0, 0, 0),
    "grey": (128, 128, 128),
    "navy": (0, 0, 128),
}


def quadrants(size=(240, 160), mode="RGB"):
    """Returns an image with red and green at the top, blue and white at the bottom."""
    image = Image.new("RGB", size)
    width, height = size
    for name, box in {
        "red": (0, 0, width // 2, height // 2),
        "green": (width // 2, 0, width, height // 2),
        "blue": (0, height // 2, width // 2, height),
        "white": (width // 2, height // 2, width, height),
    }.items():
        image.paste(COLOURS[name], box)
    return image.convert(mode)


def png(path, width, height, depth=8):
    """Writes a black PNG row by row, because Pillow would keep all of it in memory."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    row = bytes(1 + (width * depth + 7) // 8)
    deflate = zlib.compressobj(6)
    data = b"".join(deflate.compress(row) for _ in range(height)) + deflate.flush()
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, 0, 0, 0, 0)))
        file.write(chunk(b"IDAT", data) + chunk(b"IEND", b""))


def make(folder):
    def at(name):
        return f"{folder}/{name}"

    upright = quadrants()
    for extension in ["jpg", "png", "webp", "gif", "heic"]:
        upright.save(at(f"plain.{extension}"))
    upright.save(at("progressive.jpg"), progressive=True)

    # These undo the transformation of each orientation.
    undo = {
        1: None,
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_90,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }
    for orientation, transposition in undo.items():
        stored = upright if transposition is None else upright.transpose(transposition)
        exif = Image.Exif()
        exif[0x0112] = orientation
        stored.save(at(f"orientation-{orientation}.jpg"), exif=exif)
        stored.save(at(f"orientation-{orientation}.png"), exif=exif)
        stored.save(at(f"orientation-{orientation}.webp"), exif=exif)

    exif = Image.Exif()
    exif[0x010F] = "SECRET camera"
    exif.get_ifd(0x8825).update({1: "N", 2: (48.0, 51.0, 29.0), 3: "E", 4: (2.0, 17.0, 40.0)})
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    xmp = b'<x:xmpmeta xmlns:x="adobe:ns:meta/">SECRET place</x:xmpmeta>'
    upright.save(at("metadata.jpg"), exif=exif, icc_profile=profile, xmp=xmp, comment="SECRET comment")
    texts = PngImagePlugin.PngInfo()
    texts.add_text("Comment", "SECRET comment")
    upright.save(at("metadata.png"), exif=exif, icc_profile=profile, pnginfo=texts)
    upright.save(at("metadata.webp"), exif=exif, icc_profile=profile, xmp=xmp)
    upright.save(at("metadata.heic"), exif=exif, icc_profile=profile, xmp=xmp)

    upright.convert("CMYK").save(at("cmyk.jpg"))
    Image.new("L", (240, 160), 128).save(at("grey.jpg"))
    Image.new("I;16", (240, 160), 128 * 257).save(at("grey16.png"))
    Image.new("1", (240, 160), 1).save(at("bits.png"))
    upright.quantize(4).save(at("palette.png"))
    for extension in ["png", "webp", "gif"]:
        Image.new("RGBA", (240, 160), (255, 0, 0, 0)).save(at(f"transparent.{extension}"))
    frames = [Image.new("RGB", (240, 160), COLOURS[name]) for name in ["blue", "red", "green"]]
    for orientation in [6]:
        exif = Image.Exif()
        exif[0x0112] = orientation
        exif[0x010F] = "SECRET camera"
        large = quadrants((3000, 2000)).transpose(undo[orientation])
        large.save(at("large-6.jpg"), exif=exif)
    for extension in ["gif", "webp", "png"]:
        frames[0].save(at(f"animated.{extension}"), save_all=True, append_images=frames[1:], duration=40)

    Image.new("RGB", (1, 1), COLOURS["blue"]).save(at("dot.png"))
    Image.new("RGB", (3000, 10), COLOURS["blue"]).save(at("wide.png"))
    Image.new("RGB", (10, 3000), COLOURS["blue"]).save(at("tall.jpg"))

    upright.transpose(Image.Transpose.ROTATE_90).save(at("portrait.jpg"))
    noise = random.Random(20).randbytes(1024 * 1024 * 3)
    Image.frombytes("RGB", (1024, 1024), noise).save(at("noise.png"))

    png(at("bomb.png"), 20_000, 20_000)
    png(at("most.png"), 8_000, 5_000)
    png(at("more.png"), 8_000, 5_001)

    # These formats are not among the five.
    for extension in ["tiff", "bmp", "ppm", "jp2", "pdf", "ico", "avif", "tga"]:
        upright.save(at(f"other.{extension}"))
    svg = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>'
    others = {
        "other.svg": svg,
        "other.svgz": gzip.compress(svg),
        "other.jxl": bytes.fromhex("0000000c4a584c200d0a870a00000014667479706a786c20000000006a786c20"),
        "other.v": struct.pack("<I", 0x08F2F608) + bytes(4096),
        "other.html": b"<html><script>alert(1)</script></html>",
        "other.js.gif": b"GIF89a/*" + bytes(64) + b"*/=1;alert(1)",
        "other.empty": b"",
        "other.zeros": bytes(4096),
        "other.head.jpg": b"\xff\xd8\xff",
        "other.head.png": b"\x89PNG\r\n\x1a\n",
    }
    for name, content in others.items():
        with open(at(name), "wb") as file:
            file.write(content)

    def content(name):
        with open(at(name), "rb") as file:
            return file.read()

    jpeg = content("plain.jpg")
    comment = b"%PDF-1.4 SECRET <script>alert(1)</script>"
    polyglots = {
        "polyglot.zip.jpg": jpeg + b"PK\x03\x04SECRET",
        "polyglot.pdf.jpg": jpeg[:2] + b"\xff\xfe" + struct.pack(">H", len(comment) + 2) + comment + jpeg[2:],
        "polyglot.html.png": content("plain.png") + b"<script>SECRET</script>",
        "polyglot.php.gif": content("plain.gif") + b"<?php SECRET ?>",
    }
    for name, bytes_ in polyglots.items():
        with open(at(name), "wb") as file:
            file.write(bytes_)


    # These have exact colours in lossless formats, without a profile, with one, and with an invalid one.
    patches = Image.new("RGB", (240, 160))
    for index, colour in enumerate([(255, 255, 255), (0, 0, 255), (100, 50, 200), (128, 128, 128)]):
        left, top = index % 2 * 120, index // 2 * 80
        patches.paste(colour, (left, top, left + 120, top + 80))
    exact = {"png": {}, "webp": {"lossless": True}, "jpg": {"quality": 100, "subsampling": 0}, "heic": {"quality": 100}}
    for extension, options in exact.items():
        patches.save(at(f"untagged.{extension}"), **options)
        patches.save(at(f"tagged.{extension}"), icc_profile=profile, **options)
        patches.save(at(f"mistagged.{extension}"), icc_profile=b"no profile " * 20, **options)
    patches.quantize(4).save(at("untagged.gif"))
    grey = Image.new("L", (240, 160), 128)
    grey.save(at("untagged-grey.png"))
    grey.save(at("untagged-grey.jpg"), quality=100)
    grey.save(at("mistagged-grey.png"), icc_profile=profile)

    for width, height in [(1, 1000), (1, 5000), (5000, 1), (199, 100_000), (1, 1_000_000)]:
        Image.new("RGB", (width, height), (100, 50, 200)).save(at(f"strip-{width}x{height}.png"))


def large(folder):
    """Writes photos with the maximum of pixels, also in the formats that need the most memory, and with a line more."""
    turned = Image.Exif()
    turned[0x0112] = 6
    most = Image.new("RGB", (10_000, 10_000), (100, 50, 200))
    most.save(f"{folder}/most.jpg")
    most.save(f"{folder}/most-progressive.jpg", progressive=True, subsampling=0, exif=turned)
    Image.new("L", (10_000, 10_001)).save(f"{folder}/more.jpg")
    Image.new("RGB", (8_000, 5_001), (100, 50, 200)).save(f"{folder}/most.webp", lossless=True, method=0, quality=0)
    Image.new("RGB", (8_064, 6_048), (100, 50, 200)).save(f"{folder}/iphone.heic", quality=20)


def describe(path):
    def nearest(pixel):
        return min(COLOURS, key=lambda name: sum((a - b) ** 2 for a, b in zip(pixel, COLOURS[name])))

    with open(path, "rb") as file:
        content = file.read()
    with Image.open(path) as image:
        image.load()
        width, height = image.size
        corners = [(width // 8, height // 8), (width * 7 // 8, height // 8)]
        corners += [(width // 8, height * 7 // 8), (width * 7 // 8, height * 7 // 8)]
        return {
            "format": image.format,
            "mode": image.mode,
            "size": [width, height],
            "frames": getattr(image, "n_frames", 1),
            "corners": [nearest(image.convert("RGB").getpixel(corner)) for corner in corners],
            "pixels": [image.convert("RGB").getpixel(corner) for corner in corners],
            "metadata": sorted(set(image.info) - {"jfif", "jfif_version", "jfif_unit", "jfif_density", "dpi"})
            + [str(tag) for tag in image.getexif()],
            "hasSecret": b"SECRET" in content or b"script" in content,
        }


if sys.argv[1] == "make":
    make(sys.argv[2])
elif sys.argv[1] == "large":
    large(sys.argv[2])
else:
    print(json.dumps([describe(path) for path in sys.argv[2:]]))
