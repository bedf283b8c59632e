// Who takes part in the races of work: a queue in one stated setting, with handlers that do nothing but say that they
// started, in a schema or a file of its own.

export type Setting =
  | { team: 'Headrace'; concurrency: number; readsSignal: boolean }
  | { team: 'graphile-worker'; localQueue: number; concurrency: number; pollMs: number }
  | { team: 'pg-boss'; batch: number }
  | { team: 'BullMQ'; concurrency: number }

/** Where it keeps its work: an address, and a name of its own there. */
export interface Place {
  address: string
  schema: string
}

export interface Item {
  key: string
  /** Null: now. */
  dueAt: number | null
}

export interface Contestant {
  /** Adds items in one call, durably as far as the setting promises. */
  add(items: readonly Item[]): Promise<void>
  /** Begins to work; tells of each run that starts when it was due, as it was added. */
  start(started: (dueAt: number | null) => void): Promise<void>
  /** How many are not done, as the store says. */
  left(): Promise<number>
  stop(): Promise<void>
}

/** As the table prints it. */
export function nameOf(setting: Setting): string {
  switch (setting.team) {
    case 'Headrace':
      return `Headrace work, concurrency ${setting.concurrency}${setting.readsSignal ? ', ctx.signal read' : ', ctx.signal not read'}`
    case 'graphile-worker':
      return `graphile-worker, local queue ${setting.localQueue}, concurrency ${setting.concurrency}, poll ${setting.pollMs} ms`
    case 'pg-boss':
      return `pg-boss work, batch ${setting.batch}, burst when full`
    case 'BullMQ':
      return `BullMQ worker, concurrency ${setting.concurrency}`
  }
}
