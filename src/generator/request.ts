// The bytes of a POST /ticks. Everything but the id and the time is written once; both have a fixed width, so
// the content length never changes and a request is one string of latin1.
import { toIso } from '../clock.ts'

export interface RequestTarget {
  /** As in the URL: `127.0.0.1:7400`. */
  host: string
  token: string | null
  itemsPrefix: string
  /** How many different items there are. */
  ids: number
}

/** Seconds whose text is kept; a longer window than this forgets and writes them again. */
const KEPT_SECONDS = 4096

/** Writes requests for one target. `write(id, atMs)` answers a whole HTTP request. */
export function createRequestWriter(target: RequestTarget): (id: number, atMs: number) => string {
  const width = String(target.ids - 1).length
  const prefix = JSON.stringify(target.itemsPrefix).slice(1, -1)
  const opening = `{"item":"${prefix}`
  const length = Buffer.byteLength(opening) + width + '","at":"2027-02-28T14:16:00.000Z"}'.length
  const start = `${head(target, length)}${Buffer.from(opening).toString('latin1')}`
  const seconds = new Map<number, string>()

  const secondText = (second: number): string => {
    let text = seconds.get(second)
    if (text !== undefined) return text
    if (seconds.size >= KEPT_SECONDS) seconds.clear()
    text = `","at":"${toIso(second * 1000).slice(0, 20)}`
    seconds.set(second, text)
    return text
  }

  return (id, atMs) => {
    const second = Math.floor(atMs / 1000)
    const digits = String(id).padStart(width, '0')
    return `${start}${digits}${secondText(second)}${String(1000 + atMs - second * 1000).slice(1)}Z"}`
  }
}

function head({ host, token }: RequestTarget, length: number): string {
  const authorization = token === null ? '' : `authorization: Bearer ${token}\r\n`
  return `POST /ticks HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\n${authorization}content-length: ${length}\r\n\r\n`
}
