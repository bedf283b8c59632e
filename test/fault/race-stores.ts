// The stores of the race of a pool, read as a stranger would: by their tables, and by a trigger of the race's own that notes
// how much of an entry's tally goes when a run of it is done. A death has a record of the store's own, and is not noted there.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { startPostgres } from '../servers/postgres.ts'
import type { RaceRecord, SettledRun } from './race-record.ts'

export interface RaceStore {
  address: string
  /** Begins to note what is done; the tables exist, and nothing was put. */
  watch(): Promise<void>
  /** How many runs were settled for good. */
  settled(): Promise<number>
  done(): Promise<SettledRun[]>
  dead(): Promise<SettledRun[]>
  left(): Promise<RaceRecord['left']>
  remove(): Promise<void>
}

type Read = (sql: string) => Promise<Record<string, unknown>[]>

/**
 * A run that is done removes its entry, or renews it for what was put since: with a new turn and no attempt. A retry counts
 * an attempt, and a death leaves the entry failing, or dead; a put where a dead entry stands is a new one.
 */
const POSTGRES_WATCH = `
create schema raced;
create table raced.done (
  key text not null, seen integer not null, at bigint not null default floor(extract(epoch from clock_timestamp()) * 1000)
);
create function raced.note() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    insert into raced.done values (old.key, old.tally + coalesce(old.after_tally, 0));
  else
    insert into raced.done values (old.key,
      old.tally + coalesce(old.after_tally, 0) - new.tally - coalesce(new.after_tally, 0));
  end if;
  return null;
end $$;
create trigger raced_removed after delete on headrace.entry for each row
  when (old.state = 'live') execute function raced.note();
create trigger raced_renewed after update on headrace.entry for each row
  when (old.turn <> new.turn and old.state = 'live' and new.state = 'live' and new.attempt = 0 and not new.failing)
  execute function raced.note();
`

/**
 * The same, where a row is renewed by its removal and a new one: this was enqueued when the old one was. What was done and put
 * anew in one transaction was enqueued later, since a run takes a while. The pool has no journal: it is one of mode one.
 */
const FILE_WATCH = `
create table raced_done (
  turn integer primary key, key text not null, seen integer not null, at integer not null, enqueued_at integer not null
);
create index raced_by_key on raced_done (key, turn);
create trigger raced_removed after delete on entry when old.state = 'live'
begin
  insert into raced_done values (old.turn, old.key, old.tally + ifnull(old.after_tally, 0),
    cast(unixepoch('subsec') * 1000 as integer), old.enqueued_at);
end;
create trigger raced_renewed after insert on entry when new.state = 'live' and new.attempt = 0 and not new.failing
begin
  update raced_done set seen = seen - new.tally - ifnull(new.after_tally, 0)
  where turn = (select max(turn) from raced_done where key = new.key) and enqueued_at = new.enqueued_at;
end;
create trigger raced_not_done after insert on entry when new.state = 'dead' or new.attempt > 0 or new.failing
begin
  delete from raced_done
  where turn = (select max(turn) from raced_done where key = new.key) and enqueued_at = new.enqueued_at;
end;
`

export function openRaceFile(): RaceStore {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-race-'))
  const file = join(folder, 'headrace.db')
  const opened = <Answer>(readOnly: boolean, use: (database: DatabaseSync) => Answer): Answer => {
    const database = new DatabaseSync(file, { readOnly, timeout: 10_000 })
    try {
      return use(database)
    } finally {
      database.close()
    }
  }
  return {
    address: `sqlite:${file}`,
    watch: async () => opened(false, (database) => database.exec(`begin immediate; ${FILE_WATCH} commit`)),
    ...reading(async (sql) => opened(true, (database) => database.prepare(sql).all()), {
      schema: '',
      done: 'raced_done',
    }),
    remove: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

export async function openRacePostgres(): Promise<RaceStore> {
  const server = (await startPostgres(18)) ?? (await startPostgres(15))
  if (server === null) throw new Error('there is no PostgreSQL here: npm run provision installs it')
  return {
    address: server.url(),
    watch: async () => void (await server.run(POSTGRES_WATCH)),
    ...reading((sql) => server.run(sql), { schema: 'headrace.', done: 'raced.done' }),
    remove: () => server.remove(),
  }
}

function reading(
  read: Read,
  { schema, done }: { schema: string; done: string },
): Pick<RaceStore, 'settled' | 'done' | 'dead' | 'left'> {
  const count = async (table: string): Promise<number> =>
    Number((await read(`select count(*) as n from ${table}`))[0]?.['n'])
  const byKey = async (sql: string): Promise<Map<string, number>> =>
    new Map((await read(sql)).map(({ key, n }) => [String(key), Number(n)]))
  const runs = async (sql: string): Promise<SettledRun[]> =>
    (await read(sql)).map((row) => ({
      key: String(row['key']),
      at: Number(row['at']),
      seen: Number(row['seen']),
    }))
  return {
    settled: async () => (await count(done)) + (await count(`${schema}death`)),
    done: () => runs(`select key, at, seen from ${done}`),
    dead: () => runs(`select key, died_at as at, seen from ${schema}death`),
    left: () =>
      byKey(`select key, tally + coalesce(after_tally, 0) as n from ${schema}entry where state = 'live'`),
  }
}
