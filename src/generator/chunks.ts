// Takes the chunk framing off an HTTP/1.1 body of unknown length, from pieces of any size.

/** A chunk's size line is a few digits; one that does not end is no chunk. */
const LONGEST_SIZE_LINE = 256

export class ChunkReader {
  #line = ''
  /** Bytes of the chunk still to come. */
  #left = 0
  /** The line break after a chunk is still to come. */
  #closing = false

  /** Hands on the body's bytes in a piece as latin1, in order. False: this is no chunked body. */
  take(text: string, hand: (part: string) => void): boolean {
    let from = 0
    while (from < text.length) {
      if (this.#left > 0) {
        const end = Math.min(from + this.#left, text.length)
        this.#left -= end - from
        hand(from === 0 && end === text.length ? text : text.slice(from, end))
        this.#closing = this.#left === 0
        from = end
      } else {
        const end = text.indexOf('\n', from)
        this.#line += text.slice(from, end < 0 ? text.length : end + 1)
        if (this.#line.length > LONGEST_SIZE_LINE) return false
        if (end < 0) return true
        if (!this.#endLine()) return false
        from = end + 1
      }
    }
    return true
  }

  #endLine(): boolean {
    const line = this.#line.trim()
    this.#line = ''
    if (this.#closing) {
      this.#closing = false
      return line === ''
    }
    this.#left = Number.parseInt(line, 16)
    return Number.isInteger(this.#left) && this.#left >= 0
  }
}
