// The calls of every tick, puts and pages of events, as flat lists of texts and numbers: an object that is copied between
// threads costs a microsecond or two, most of it for the names of its fields. Those of every run are in pack-work.ts.
import type { LogEvent, LogPage } from '../../../log/store.ts'
import type { Lane, OnConflict } from '../../../pool/entry.ts'
import type { Put, PutAnswer, PutResult } from '../../../pool/merge.ts'
import type { Settlement } from '../../../pool/settle.ts'
import type { PutRequest, PutResponse, SettleAnswer, Taken } from '../../../pool/store.ts'
import {
  type Columns,
  packAnswers,
  packSettlements,
  packTaken,
  unpackAnswers,
  unpackSettlements,
  unpackTaken,
} from './pack-work.ts'

type Flat = (string | number | boolean | null | undefined)[]

/** How the arguments and the answer of a method travel; a side that is left out travels as it is. */
interface Packing {
  packArgs?: (args: unknown[]) => unknown[]
  unpackArgs?: (args: unknown[]) => unknown[]
  packAnswer?: (answer: unknown) => unknown
  unpackAnswer?: (answer: unknown) => unknown
}

/** By `port.method`. */
export const PACKINGS: Readonly<Record<string, Packing>> = {
  'entries.put': {
    packArgs: ([pool, requests]) => [pool, packRequests(requests as PutRequest[])],
    unpackArgs: ([pool, flat]) => [pool, unpackRequests(flat as Flat)],
    packAnswer: (responses) => packResponses(responses as PutResponse[]),
    unpackAnswer: (flat) => unpackResponses(flat as Flat),
  },
  'entries.take': {
    packAnswer: (taken) => packTaken(taken as Taken),
    unpackAnswer: (columns) => unpackTaken(columns as Columns),
  },
  'entries.settle': {
    packArgs: ([pool, settlements, claim]) => [pool, packSettlements(settlements as Settlement[]), claim],
    unpackArgs: ([pool, columns, claim]) => [pool, unpackSettlements(columns as Columns), claim],
    packAnswer: (answers) => packAnswers(answers as SettleAnswer[]),
    unpackAnswer: (numbers) => unpackAnswers(numbers as number[]),
  },
  'log.read': {
    packAnswer: (page) => packPage(page as LogPage),
    unpackAnswer: (flat) => unpackPage(flat as Flat),
  },
}

function packRequests(requests: PutRequest[]): Flat {
  const flat: Flat = []
  for (const { puts, repeat } of requests) {
    flat.push(puts.length, repeat === null)
    if (repeat !== null) flat.push(repeat.id, repeat.fingerprint, repeat.keepMs)
    for (const { key, at, inMs, payload, lane, group, onConflict, longestWaitMs } of puts)
      flat.push(key, at, payload, lane, group === key ? null : group, onConflict, longestWaitMs, inMs)
  }
  return flat
}

function unpackRequests(flat: Flat): PutRequest[] {
  const requests: PutRequest[] = []
  for (let place = 0; place < flat.length;) {
    const count = flat[place++] as number
    const request: PutRequest = { puts: [], repeat: null }
    if (flat[place++] === false) {
      const [id, fingerprint, keepMs] = [
        flat[place++] as string,
        flat[place++] as string,
        flat[place++] as number,
      ]
      request.repeat = { id, fingerprint, keepMs }
    }
    for (let nth = 0; nth < count; nth += 1) {
      const key = flat[place++] as string
      const put: Put = {
        key,
        at: flat[place++] as number | null,
        payload: flat[place++] as string | undefined,
        lane: flat[place++] as Lane | null,
        group: (flat[place++] as string | null) ?? key,
        onConflict: flat[place++] as OnConflict,
      }
      const longestWaitMs = flat[place++] as number | undefined
      const inMs = flat[place++] as number | undefined
      if (longestWaitMs !== undefined) put.longestWaitMs = longestWaitMs
      if (inMs !== undefined) put.inMs = inMs
      request.puts.push(put)
    }
    requests.push(request)
  }
  return requests
}

function packResponses(responses: PutResponse[]): Flat {
  const flat: Flat = []
  for (const response of responses) {
    if (response.kind === 'mismatch') {
      flat.push(null)
      continue
    }
    if (response.kind === 'refused') {
      flat.push('refused', response.pool, response.key, response.most)
      continue
    }
    flat.push(response.replayed, response.answers.length)
    for (const { result, dueAt, tally } of response.answers) flat.push(result, dueAt, tally)
  }
  return flat
}

function unpackResponses(flat: Flat): PutResponse[] {
  const responses: PutResponse[] = []
  for (let place = 0; place < flat.length;) {
    const replayed = flat[place++] as boolean | null | 'refused'
    if (replayed === null) {
      responses.push({ kind: 'mismatch' })
      continue
    }
    if (replayed === 'refused') {
      const [pool, key, most] = flat.slice(place, (place += 3)) as [string, string, string]
      responses.push({ kind: 'refused', pool, key, most })
      continue
    }
    const answers: PutAnswer[] = []
    for (let count = flat[place++] as number; count > 0; count -= 1) {
      answers.push({
        result: flat[place++] as PutResult,
        dueAt: flat[place++] as number,
        tally: flat[place++] as number,
      })
    }
    responses.push({ kind: 'answered', answers, replayed })
  }
  return responses
}

function packPage({ events, more }: LogPage): Flat {
  const flat: Flat = [more]
  for (const { partition, offset, id, key, value, headers, time } of events)
    flat.push(partition, offset, id, key, value, headers, time)
  return flat
}

function unpackPage(flat: Flat): LogPage {
  const events: LogEvent[] = []
  for (let place = 1; place < flat.length;) {
    events.push({
      partition: flat[place++] as number,
      offset: flat[place++] as number,
      id: flat[place++] as string,
      key: flat[place++] as string,
      value: flat[place++] as string,
      headers: flat[place++] as string | null,
      time: flat[place++] as number,
    })
  }
  return { events, more: flat[0] as boolean }
}
