// Whether a contestant asks its server for anything right now, as the server says: what is left is counted only when it does
// not. To count means to read all that was deleted, which takes as long as a twentieth of a race.
import { Client } from 'pg'

export interface Quiet {
  isQuiet(): Promise<boolean>
  end(): Promise<void>
}

const BUSY = `
  select count(*)::integer as busy
  from pg_stat_activity
  where datname = current_database() and backend_type = 'client backend' and state <> 'idle' and pid <> pg_backend_pid()`

/** Of a file nothing is known: it counts as quiet. */
export async function openQuiet(address: string): Promise<Quiet> {
  if (!address.startsWith('postgres')) return { isQuiet: async () => true, end: async () => undefined }
  const client = new Client({ connectionString: address })
  await client.connect()
  return {
    async isQuiet() {
      const { rows } = await client.query<{ busy: number }>(BUSY)
      return rows[0]?.busy === 0
    },
    end: () => client.end(),
  }
}
