// Reads answers of HTTP/1.1 from pieces of any size: the status and the end of each, and nothing else. One
// reader per connection; answers without a content length are refused, as the server always sends one.

const HEAD_END = '\r\n\r\n'
const LENGTH = /\r\ncontent-length: *(\d+)/i
const STATUS = /^HTTP\/1\.1 (\d{3})/

/** A head that has not ended after this many characters is no answer of ours. */
const LONGEST_HEAD = 16_384

/** What a piece of input brought: the status of a finished answer, `more` to come, or `broken`. */
export type AnswerProgress = number | 'more' | 'broken'

export class AnswerReader {
  #head = ''
  #status = 0
  /** Bytes of the body still to come; -1 while the head is read. */
  #left = -1

  /** Takes the next piece. There is one request under way at a time, so a piece ends at most one answer. */
  take(bytes: Buffer): AnswerProgress {
    if (this.#left >= 0) return this.#skip(bytes.length)
    const text = this.#head + bytes.toString('latin1')
    const end = text.indexOf(HEAD_END)
    if (end < 0) {
      this.#head = text
      return text.length > LONGEST_HEAD ? 'broken' : 'more'
    }
    this.#head = ''
    const status = STATUS.exec(text)?.[1]
    const length = LENGTH.exec(text)?.[1]
    if (status === undefined || length === undefined) return 'broken'
    this.#status = Number(status)
    this.#left = Number(length)
    return this.#skip(text.length - end - HEAD_END.length)
  }

  /** Forgets what was read, for a new connection. */
  reset(): void {
    this.#head = ''
    this.#left = -1
  }

  #skip(count: number): AnswerProgress {
    this.#left -= count
    if (this.#left > 0) return 'more'
    if (this.#left < 0) return 'broken'
    this.#left = -1
    return this.#status
  }
}
