// The holes that users from outside found, and the tests that keep them closed.

export interface Hole {
  /** What was wrong. */
  name: string
  /** The files that run the tests. */
  run: readonly string[]
  /** Where the titles stand, if not in those files: contract cases are shared by all stores. */
  source?: string
  titles: readonly string[]
  /** Whether the first of the tests was seen to fail on the code as it was. */
  failedBefore: boolean
}

const CONTRACT = ['test/contract/memory.test.ts', 'test/contract/sqlite.test.ts']

export const HOLES: readonly Hole[] = [
  {
    name: 'putAll ignored tx',
    run: ['test/contract/postgres-tx-refused.test.ts'],
    titles: ['[U1] [U2] putAll in a transaction puts all with its commit, and none if it is rolled back'],
    failedBefore: true,
  },
  {
    name: 'unknown options were ignored',
    run: ['test/unit/refused-options.test.ts'],
    titles: [
      'every call on pools and topics refuses an option that it does not know, with the nearest one',
      'every call on a race refuses an option that it does not know, with the nearest one',
      'every call of the client refuses an option that it would drop',
    ],
    failedBefore: true,
  },
  {
    name: 'tx was a pool, or outside of a transaction',
    run: ['test/contract/postgres-tx-refused.test.ts'],
    titles: ['[U4] a pool, and a client outside of a transaction, are refused, and nothing is written'],
    failedBefore: true,
  },
  {
    name: 'a reschedule onto a taken slot lost a payload',
    run: CONTRACT,
    source: 'src/testing/change-contract.ts',
    titles: ['[C2] a reschedule to a slot that is taken answers exists and changes nothing'],
    failedBefore: true,
  },
  {
    name: 'errors of entries: attempts, causes, the last error',
    run: ['test/unit/pool/work-api.test.ts', 'test/unit/pool/describe-error.test.ts'],
    titles: [
      '[S12] an entry that backs off shows how often it failed and its last error, and a dead one all attempts',
      '[X25] a failed fetch says that the connection was refused',
      '[C2] a reschedule answers its due time as a Date, as a put does',
    ],
    failedBefore: false,
  },
  {
    name: 'old Node, old TypeScript, Bun',
    run: ['test/package/runtimes.test.ts'],
    titles: [
      'a Node below the floor is refused by every entry point, imported or required, and by the command',
      'the types of every entry point hold under TypeScript 5.4.5 without skipLibCheck',
      'Bun runs the first example on the three stores, and stops a race that is served',
    ],
    failedBefore: true,
  },
  {
    name: 'library mode was silent',
    run: ['test/unit/report.test.ts'],
    titles: [
      'a race in library mode reports a handler that throws, and a death, by default',
      'a store that does not answer for seconds is reported, with the doubt, and again when it is back',
    ],
    failedBefore: true,
  },
  {
    name: 'tutorials that show nothing',
    run: ['test/package/tutorials.test.ts'],
    titles: [
      'docs/start/first-tick.md works as written in an empty folder',
      'docs/start/first-worker.md works as written in an empty folder',
    ],
    failedBefore: false,
  },
  {
    name: '/readyz cost a store call each',
    run: ['test/unit/server/open-routes.test.ts'],
    titles: [
      'a flood of /readyz on 1 connections asks the store nothing, and the heart beats on',
      'a connection that sends open requests without waiting for answers is cut, and others are served',
    ],
    failedBefore: true,
  },
  {
    name: 'shares were never removed',
    run: ['test/unit/roster/plan.test.ts', 'test/unit/roster/idle-shares.test.ts'],
    titles: [
      '[A1] the cost of a plan grows with the number of allotments, not with its square',
      '[Q11] the leader removes a share ten minutes after its last collector left',
    ],
    failedBefore: true,
  },
  {
    name: 'one key 10,000 times in a list',
    run: ['test/contract/postgres-repeats.test.ts'],
    titles: ['[R5] one key 10,000 times in a list, in mode one, takes a few statements, and is answered'],
    failedBefore: true,
  },
  {
    name: 'bodies in tiny chunks, long texts',
    run: ['test/fault/hostile-client.test.ts'],
    titles: ['a body of 1 MiB in chunks of one byte costs little memory'],
    failedBefore: true,
  },
  {
    name: 'passwords were printed',
    run: ['test/unit/mask.test.ts'],
    titles: [
      'no command prints the password of an address, be it refused, unreachable or misspelt',
      'the address of a store is read from a file, by flag or environment, and not from both',
    ],
    failedBefore: true,
  },
  {
    name: 'SQLite files were open to others',
    run: ['test/unit/stores/sqlite/privacy.test.ts'],
    titles: ['[J10] folders and files that the store makes are open to their user alone'],
    failedBefore: true,
  },
  {
    name: 'blank tokens, and servers behind a proxy',
    run: ['test/unit/options.test.ts', 'test/unit/server/auth.test.ts'],
    titles: [
      'a blank or short token is refused, wherever it comes from, and one that no header can carry',
      'behind a proxy it refuses to start without a token, also on loopback',
    ],
    failedBefore: false,
  },
  {
    name: 'names that no store can hold',
    run: ['test/unit/server/names.test.ts'],
    titles: ['a name that no store can hold is refused before the store, on every route that takes one'],
    failedBefore: false,
  },
  {
    name: 'failed logins, stuck readers',
    run: ['test/unit/server/outlet.test.ts', 'test/unit/server/auth.test.ts'],
    titles: [
      'a follower of an entry that does not read is cut, as one of a topic is',
      'failed logins are counted by reason, on every route',
    ],
    failedBefore: false,
  },
  {
    name: 'a PostgreSQL store that goes back',
    run: ['test/fault/go-back.test.ts'],
    titles: [
      '[G6] [Y21] after a lagging replica is promoted under living members every key that is answered runs',
      '[G6] [Y21] after a base backup is started under living members every key that is answered runs',
      '[G6] [Y21] after a dump is restored under living members every key that is answered runs',
    ],
    failedBefore: true,
  },
  {
    name: 'cached numbers of pools and topics',
    run: ['test/contract/postgres-generation.test.ts', 'test/unit/pool/worker-settles.test.ts'],
    titles: [
      '[Y22] numbers of pools and topics are read again, and nothing lands in another',
      '[X61] a run whose turn is gone, and that is given again with it, rests for longer each time, and is reported',
    ],
    failedBefore: false,
  },
  {
    name: 'an old snapshot stopped new members',
    run: ['test/contract/postgres-snapshot.test.ts'],
    titles: ['[D6] [Y16] a take that cannot read everything in time goes on where it ended'],
    failedBefore: true,
  },
  {
    name: 'a connection in an aborted transaction was used again',
    run: ['test/contract/postgres-rollback.test.ts'],
    titles: ['[Y23] a connection whose rollback failed is closed, and the next call has another'],
    failedBefore: true,
  },
  {
    name: 'in counted from the clock of the process',
    run: CONTRACT,
    source: 'src/testing/debounce-contract.ts',
    titles: ['[M17] puts of members whose clocks differ debounce each other by the clock of the store'],
    failedBefore: true,
  },
  {
    name: 'a SQLite file that was replaced',
    run: ['test/fault/replaced-file.test.ts'],
    titles: ['[J9] an earlier copy written over the file is found by the next pulse'],
    failedBefore: true,
  },
  {
    name: 'handlers that return what is no outcome',
    run: ['test/unit/pool/back-off.test.ts'],
    titles: ['[X11] a text, a function, and an object that looks like an outcome and is none, are failures'],
    failedBefore: true,
  },
  {
    name: 'simulated runs that nobody had run',
    run: ['test/unit/pool/worker-limits-doubt.test.ts', 'test/unit/lab/job-suspects.test.ts'],
    titles: [
      '[L17] [L20] a stop keeps the share of a handler that ignored its timeout and still runs',
      '[X45] a run is alone after `drainWithin`, also beside marks that a member sent late since it stood still',
    ],
    failedBefore: true,
  },
]
