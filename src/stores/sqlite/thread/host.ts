// The side of the store: runs the calls that it receives, many at a time, and sends back the results.
import type { Store } from '../../../store.ts'
import type { Emitter } from '../../../telemetry.ts'
import { PACKINGS } from './pack.ts'
import { type Call, type Message, type Ports, toWire } from './messages.ts'

type Send = (message: Message) => void

/** Telemetry of a store whose listeners are on the other side. */
export function emitter(member: string, send: Send): Emitter {
  return {
    member,
    emit(name, payload) {
      if (!('error' in payload)) return send({ kind: 'emitted', name, payload })
      const { error, ...rest } = payload
      send({ kind: 'emitted', name, payload: rest, error: toWire(error) })
    },
  }
}

/** Lends a store to the other side: answers what to do with each call. */
export function lend(store: Store, send: Send): (call: Call) => Promise<void> {
  const ports = portsOf(store)
  store.watch((hint) => send({ kind: 'hint', hint }))
  send({ kind: 'opened', address: store.address, putsAtOnce: store.pool.putsAtOnce })
  return async (call) => {
    try {
      send({ kind: 'answered', id: call.id, answer: await run(ports, call) })
    } catch (error) {
      send({ kind: 'failed', id: call.id, error: toWire(error) })
    }
  }
}

function portsOf(store: Store): Ports {
  const { pool, log, mover, fences, roster, locks } = store
  const { entries, browse, dead, progress, control } = pool
  return { entries, browse, dead, progress, control, log, mover, fences, roster, locks, store }
}

async function run(ports: Ports, { port, method, args }: Call): Promise<unknown> {
  const methods = ports[port] as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>
  const packing = PACKINGS[`${port}.${method}`]
  const answer = await methods[method]?.(...(packing?.unpackArgs?.(args) ?? args))
  return packing?.packAnswer === undefined ? answer : packing.packAnswer(answer)
}
