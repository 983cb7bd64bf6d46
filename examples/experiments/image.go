package main

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"io"
)

// writePNG writes an image. Where lines says that it is a drawing of lines it gets
// a palette, with each channel rounded to as many levels as at most 256 colours
// allow, which makes the file a third as large.
func writePNG(w io.Writer, img image.Image, lines bool) error {
	if lines {
		for _, steps := range []int{17, 15, 5} { // 255 is a multiple of each
			if p := paletted(img, steps); p != nil {
				return encode(w, p)
			}
		}
	}
	return encode(w, img)
}

// paletted rounds the channels of an image to multiples of 255/steps; nil where
// that leaves more than 256 colours.
func paletted(img image.Image, steps int) *image.Paletted {
	b := img.Bounds()
	index := make(map[color.RGBA]uint8)
	out := image.NewPaletted(b, nil)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			r, g, bl, _ := img.At(x, y).RGBA()
			level := func(v uint32) uint8 { return uint8((int(v>>8)*steps + 127) / 255 * (255 / steps)) }
			c := color.RGBA{level(r), level(g), level(bl), 255}
			i, ok := index[c]
			if !ok {
				if len(out.Palette) == 256 {
					return nil
				}
				i = uint8(len(out.Palette))
				index[c] = i
				out.Palette = append(out.Palette, c)
			}
			out.SetColorIndex(x, y, i)
		}
	}
	return out
}

func encode(w io.Writer, img image.Image) error {
	var buf bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&buf, img); err != nil {
		return err
	}
	_, err := w.Write(buf.Bytes())
	return err
}
