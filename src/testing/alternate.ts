// Two openings of one store, called in turns, as one store. What one of them wrote the other must see.
import type { Store } from '../store.ts'

export function alternate(first: Store, second: Store): Store {
  let calls = 0
  const next = (): Store => ((calls += 1) % 2 === 0 ? first : second)
  return {
    address: first.address,
    pool: alternatePool([first, second], next),
    log: {
      open: async (settings) => {
        for (const store of [first, second]) await store.log.open(settings)
      },
      append: (topic, events) => next().log.append(topic, events),
      read: (topic, request) => next().log.read(topic, request),
      topics: () => next().log.topics(),
      topic: (name) => next().log.topic(name),
      trim: (topic, limit) => next().log.trim(topic, limit),
    },
    arrivals: first.arrivals,
    mover: { move: (request) => next().mover.move(request) },
    fences: {
      raise: (resource, claim) => next().fences.raise(resource, claim),
      release: (resource, claim) => next().fences.release(resource, claim),
      fences: (resource) => next().fences.fences(resource),
    },
    roster: {
      join: (member, resources) => next().roster.join(member, resources),
      serve: (member, resources) => next().roster.serve(member, resources),
      reach: (member, address) => next().roster.reach(member, address),
      view: () => next().roster.view(),
      decide: (decision) => next().roster.decide(decision),
      grant: (owner, grants) => next().roster.grant(owner, grants),
      leave: (member, grants) => next().roster.leave(member, grants),
      drain: (member, draining) => next().roster.drain(member, draining),
      stepDown: (member) => next().roster.stepDown(member),
      markIdle: (marks) => next().roster.markIdle(marks),
      forget: (resources, idleForMs) => next().roster.forget(resources, idleForMs),
    },
    locks: {
      acquire: (request) => next().locks.acquire(request),
      release: (name, holder) => next().locks.release(name, holder),
      held: () => next().locks.held(),
    },
    pulse: (request) => next().pulse(request),
    inspect: () => next().inspect(),
    watch: (listener) => first.watch(listener),
    close: async () => {
      for (const store of [first, second]) await store.close()
    },
  }
}

function alternatePool(both: [Store, Store], next: () => Store): Store['pool'] {
  return {
    entries: {
      open: async (settings) => {
        for (const store of both) await store.pool.entries.open(settings)
      },
      put: (pool, requests) => next().pool.entries.put(pool, requests),
      cancel: (pool, name) => next().pool.entries.cancel(pool, name),
      reschedule: (pool, change) => next().pool.entries.reschedule(pool, change),
      take: (pool, request) => next().pool.entries.take(pool, request),
      settle: (pool, settlements, claim) => next().pool.entries.settle(pool, settlements, claim),
      mark: (pool, marks, claim) => next().pool.entries.mark(pool, marks, claim),
    },
    browse: {
      get: (pool, name) => next().pool.browse.get(pool, name),
      list: (pool, query) => next().pool.browse.list(pool, query),
      count: (pool) => next().pool.browse.count(pool),
      deaths: (pool, limit) => next().pool.browse.deaths(pool, limit),
      pools: () => next().pool.browse.pools(),
      pool: (name) => next().pool.browse.pool(name),
    },
    dead: {
      list: (pool, query) => next().pool.dead.list(pool, query),
      payloads: (pool, ids) => next().pool.dead.payloads(pool, ids),
      redrive: (pool, ids) => next().pool.dead.redrive(pool, ids),
      remove: (pool, ids) => next().pool.dead.remove(pool, ids),
      purge: (limit) => next().pool.dead.purge(limit),
    },
    progress: {
      tell: (pool, told, claim) => next().pool.progress.tell(pool, told, claim),
      read: (pool, name) => next().pool.progress.read(pool, name),
      sweep: (limit) => next().pool.progress.sweep(limit),
    },
    control: {
      read: (pool) => next().pool.control.read(pool),
      write: (pool, version, control) => next().pool.control.write(pool, version, control),
    },
    putsAtOnce: both[0].pool.putsAtOnce,
  }
}
