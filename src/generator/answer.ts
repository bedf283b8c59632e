// Reads answers of HTTP/1.1 from pieces of any size: the status and the end of each, and nothing else. One
// reader per connection; answers without a content length are refused, as the server always sends one.

const BEGIN = 'HTTP/1.1 '
const HEAD_END = '\r\n\r\n'
const LENGTH = /\r\ncontent-length: *(\d+)/i
const STATUS = /^HTTP\/1\.1 (\d{3})/

/** A head that has not ended after this many characters is no answer of ours. */
const LONGEST_HEAD = 16_384

export class AnswerReader {
  #head = ''
  #status = 0
  /** Bytes of the body still to come; -1 while the head is read. */
  #left = -1

  /** Takes the next piece, and tells of each answer that ends in it; false: this is no answer of ours. */
  take(bytes: Buffer, answered: (status: number) => void): boolean {
    for (let at = 0; at < bytes.length;) {
      if (this.#left < 0) {
        const text = this.#head + bytes.toString('latin1', at)
        if (!text.startsWith(BEGIN.slice(0, text.length))) return false
        const end = text.indexOf(HEAD_END)
        if (end < 0) {
          this.#head = text
          return text.length <= LONGEST_HEAD
        }
        at += end + HEAD_END.length - this.#head.length
        this.#head = ''
        if (!this.#begin(text.slice(0, end))) return false
      }
      const skipped = Math.min(this.#left, bytes.length - at)
      at += skipped
      this.#left -= skipped
      if (this.#left > 0) return true
      this.#left = -1
      answered(this.#status)
    }
    return true
  }

  /** Forgets what was read, for a new connection. */
  reset(): void {
    this.#head = ''
    this.#left = -1
  }

  #begin(head: string): boolean {
    const status = STATUS.exec(head)?.[1]
    const length = LENGTH.exec(head)?.[1]
    if (status === undefined || length === undefined) return false
    this.#status = Number(status)
    this.#left = Number(length)
    return true
  }
}
