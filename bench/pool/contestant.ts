// Who takes part in the race of puts: something that puts a thousand items a call, in one stated setting, into a schema of
// its own and on connections of its own.

export const KINDS = ['unkeyed', 'keyed'] as const
/** Unkeyed: nothing put before is met again. Keyed: every key is there already, and waits. */
export type Kind = (typeof KINDS)[number]

export interface Item {
  key: string
  nth: number
}

export interface Contestant {
  /** What it does, and in which setting, as the table prints it. */
  name: string
  /** Ours are compared with the best of the peer's. */
  side: 'ours' | 'peer'
  kind: Kind
  /** Removes all that was put. */
  empty: () => Promise<void>
  /** Puts the items in one call, durably; refuses an answer that is not what the setting promises. */
  put: (items: readonly Item[]) => Promise<void>
  close(): Promise<void>
}

/** Where the race is: the server, how many connections each has, and who tells the server to forget. */
export interface Track {
  url: string
  connections: number
  run: (statement: string) => Promise<void>
}
