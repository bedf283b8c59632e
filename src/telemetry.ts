// Names and payloads of every telemetry event, on node:diagnostics_channel. Channels are global and many
// members may live in one process, so each payload carries its member's id and listeners filter by it.
import { type Channel, channel } from 'node:diagnostics_channel'

export interface TelemetryEvents {
  /** A put is about to be sent, in the context of its caller; `traceparent` is that of its options. */
  'put.asked': { pool: string; key: string; slot: number | null; traceparent: string | null }
  /** Puts were answered. */
  'pool.put': { pool: string; created: number; merged: number; replaced: number; kept: number }
  /** The same puts, each by itself. */
  'put.answered': { pool: string; puts: readonly PutFacts[]; tookMs: number }
  /** A put joined a run that waits, and its payload replaced that of the put before; reported once for each pool. */
  'pool.payload-replaced': { pool: string; key: string }
  /** Entries were cancelled or rescheduled by a caller. */
  'pool.changed': { pool: string; cancelled: number; rescheduled: number }
  /** A pool was paused here. */
  'pool.paused': { pool: string; by: string | null; reason: string | null; until: number | null }
  /** The pause of a pool was ended here. */
  'pool.resumed': { pool: string }
  /** The limits of a pool were changed here; null: there is none. */
  'pool.limited': { pool: string; limits: { group: LimitTold; pool: LimitTold } }
  /** A write of what steers a pool, by a caller, of a member's share or of cancels, was not made: another was before. */
  'control.lost': { pool: string; by: 'caller' | 'share' | 'cancel' | 'ticks' }
  /** Due ticks moved to their topic. */
  'ticks.moved': { pool: string; topic: string; latenessMs: number[]; tookMs: number }
  /** The loop that moves ticks failed and will try again; null: its pool or topic is refused, and it ended. */
  'ticks.failed': { pool: string; error: unknown; retryInMs: number | null }
  /** A worker's settles were answered. `gone`: cancelled, replaced, or settled before. `ends`: how those settled ended. */
  'work.settled': { pool: string; settled: number; gone: number; refused: number; ends: Ends; tookMs: number }
  /** A take or a settle of a worker failed and will be tried again; null: its pool is refused, and it ended. */
  'work.failed': { pool: string; error: unknown; retryInMs: number | null }
  /** Due runs of a pool are held back here: told once a second for each reason, at most. */
  'work.held': { pool: string; why: 'paused' | 'pool_full' | 'rate_limited' }
  /** A run was taken. */
  'run.taken': { pool: string; lane: string; run: RunFacts; latenessMs: number }
  /** A handler is about to be called. */
  'run.started': { pool: string; lane: string; run: RunFacts }
  /** A handler has ended, and how; null: its run is let go, and due as before. */
  'run.ended': { pool: string; lane: string; run: RunFacts; runMs: number; outcome: RunOutcome | null }
  /** The settle of a run was answered; `gone` and `refused` as in `work.settled`. */
  'run.settled': { pool: string; lane: string; run: RunFacts; result: SettleWord }
  /** A run failed: its handler threw, or answered `retry` or `dead`; then `error` is null, and `reason` what `dead` gave. */
  'run.failed': {
    pool: string
    key: string
    attempt: number
    error: unknown
    isDead: boolean
    /** Null if the run is not dead, or its attempts are used up. */
    reason: string | null
    /** Null if it is dead. */
    retryInMs: number | null
  }
  /** A handler told something of its run, with `ctx.log`. */
  'run.logged': { pool: string; key: string; attempt: number; message: string; details: unknown }
  /** The store refuses to write how a run ended. `isDead`: it is settled as dead instead; else it rests, and is tried again. */
  'run.unsettled': { pool: string; key: string; outcome: string; error: unknown; isDead: boolean }
  /** A handler has not ended one second after its signal fired. */
  'run.ignored': { pool: string; key: string; why: 'stop' | 'timeout' | 'lost' | 'cancel' }
  /** Records of deaths were removed, because their pool keeps them no longer. */
  'dead.purged': { pool: string; deaths: number }
  /** Events were appended by a caller. */
  'log.appended': { topic: string; events: number }
  /** Retention removed events. */
  'log.trimmed': { topic: string; events: number }
  /** A store with a schema was opened and is at version `to`; the same as `from`: there was nothing to do. */
  'store.migrated': { from: number; to: number }
  /** The store did one piece of work: a commit, a read, a pulse. */
  'store.called': { operation: StoreOperation; tookMs: number }
  /** A write had to wait because another process held the store. */
  'store.waited': { waits: number }
  /** A call was made again, because another transaction came between. */
  'store.repeated': { operation: StoreOperation }
  /** Entries moved from the journal into the table. */
  'store.folded': { pool: string; entries: number }
  /** Puts or events of users' own transactions whose payload, value or headers are no JSON, or too large; `key` is one of theirs. */
  'arrivals.refused': { resource: string; arrivals: number; key: string }
  /** Work that the store does beside its calls, folding and forgetting, failed; a later pulse tries again. */
  'store.failed': { error: unknown }
  /** The store went back to an earlier state: what was answered since is gone, and every member joins again. */
  'store.went-back': { from: string; to: string }
  /** This process can use its store no more, by a defect or a disk that fails: every call fails from now on, and only a restart helps. */
  'store.lost': { error: unknown }
  /** A pulse failed or was not answered in time; `forMs` is the time since the last answer. */
  'store.silent': { forMs: number; error: unknown }
  /** The store answers pulses again, `afterMs` after the answer before. */
  'store.answered': { afterMs: number }
  /** This member is in the roster under this id. */
  'roster.joined': { id: string }
  /** This member was declared dead, holds nothing, and joins again under another id. */
  'roster.lost': { id: string }
  /** No beat was answered for so long that this member cannot trust what it holds, and starts nothing. */
  'roster.doubted': { id: string }
  /** A beat was answered after a doubt, and this member has kept what it holds. */
  'roster.trusted': { id: string }
  /** This member has left, and handed over what it held. */
  'roster.left': { id: string }
  /** This member leads from now on; null: it did, and leads no more. */
  'roster.leading': { term: number | null }
  /** What became of the leader's changes. */
  'roster.decided': { kind: 'decided' | 'not-leader' | 'unsure' | 'alive'; dead: number; changes: number }
  /** Fences were raised for partitions that this member was given. */
  'roster.raised': { resource: string; raised: number; refused: number }
  /** How many partitions of a resource this member holds, whenever that may have changed. */
  'roster.held': { resource: string; partitions: number }
  /** Partitions were handed over to the next owner. */
  'roster.granted': { resource: string; partitions: number }
  /** A step in the roster failed; the next pulse tries again. */
  'roster.failed': { error: unknown }
  /** A listener to hints, or to what a member holds, threw; nothing else is harmed. */
  'listener.failed': { error: unknown }
  /** Fenced writes were refused, because the partitions are another member's by now; `runs`: of so many runs, if it was theirs. */
  'fence.refused': { resource: string; partitions: number; runs?: number }
  /** Workers run, and nothing in this process listens to SIGTERM. */
  'signals.missing': { pools: readonly string[] }
  /** A request was answered. */
  'http.answered': { route: string; method: string; status: number; tookMs: number }
  /** A request without the token, or with a wrong one, was refused; `from`: the address of the connection. */
  'http.unauthorized': { why: 'missing' | 'wrong'; from: string | null }
  /** A request was not served because the store failed or refused; its client sees the code alone. */
  'http.unserved': { route: string; method: string; error: unknown }
  /** A request met an error that is no HeadraceError: a defect. */
  'http.failed': { route: string; method: string; error: unknown }
}

/** How many runs ended in each way. */
export type Ends = Record<EndWord, number>
export type EndWord = 'done' | 'again' | 'retried' | 'dead' | 'cancelled'
/** A limit as telemetry tells it. */
export interface LimitTold {
  concurrency: number | null
  rate: { count: number; perMs: number } | null
}

export type StoreOperation = 'commit' | 'read' | 'pulse'
export type RunOutcome = 'done' | 'again' | 'retry' | 'dead' | 'cancel'
export type SettleWord = 'settled' | 'gone' | 'refused'

/** What names a put and its answer. */
export interface PutFacts {
  key: string
  slot: number | null
  result: 'created' | 'merged' | 'replaced' | 'kept'
  dueAt: number
  tally: number
}

/** What names a run. */
export interface RunFacts {
  key: string
  slot: number | null
  partition: number
  turn: number
  dueAt: number
  seen: number
  attempt: number
}

export type TelemetryName = keyof TelemetryEvents
export type TelemetryPayload<Name extends TelemetryName> = TelemetryEvents[Name] & { member: string }

/** What those have who only tell. */
export interface Emitter {
  readonly member: string
  /** Costs next to nothing while nobody listens. */
  emit<Name extends TelemetryName>(name: Name, payload: TelemetryEvents[Name]): void
}

export interface Telemetry extends Emitter {
  /** Whether anybody listens to events of this name: what is told of every single run is made only then. */
  hears(name: TelemetryName): boolean
  /** Listens to this member's events until the returned function is called. */
  on<Name extends TelemetryName>(name: Name, listener: (payload: TelemetryPayload<Name>) => void): () => void
}

export function createTelemetry(member: string): Telemetry {
  const channels = new Map<TelemetryName, Channel>()
  const channelOf = (name: TelemetryName): Channel => {
    let known = channels.get(name)
    if (known === undefined) channels.set(name, (known = channel(`headrace:${name}`)))
    return known
  }
  return {
    member,
    hears: (name) => channelOf(name).hasSubscribers,
    emit(name, payload) {
      const target = channelOf(name)
      if (target.hasSubscribers) target.publish({ ...payload, member })
    },
    on<Name extends TelemetryName>(name: Name, listener: (payload: TelemetryPayload<Name>) => void) {
      const target = channelOf(name)
      const receive = (message: unknown): void => {
        const payload = message as TelemetryPayload<Name>
        if (payload.member === member) listener(payload)
      }
      target.subscribe(receive)
      return () => void target.unsubscribe(receive)
    },
  }
}
