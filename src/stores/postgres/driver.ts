// The driver `pg`, loaded when a store is opened, with numbers for 64-bit integers on our own connections only.
import type { Client, CustomTypesConfig, Pool, PoolConfig } from 'pg'
import { HeadraceError } from '../../errors.ts'

export interface Driver {
  createPool(config: PoolConfig): Pool
  createClient(config: PoolConfig): Client
}

const INT8 = 20
const INT4_ARRAY = 1007
const INT8_ARRAY = 1016

/** A peer dependency: users of this store install it. */
export async function loadDriver(): Promise<Driver> {
  const { default: pg } = await import('pg').catch((cause: unknown) => {
    throw new HeadraceError('store_unknown', 'the PostgreSQL driver `pg` is not installed', {
      cause,
      remedy: 'run `npm install pg`',
    })
  })
  const types: CustomTypesConfig = {
    getTypeParser(oid, format) {
      const type: number = oid
      if (type === INT8 && format !== 'binary') return Number
      if ((type === INT8_ARRAY || type === INT4_ARRAY) && format !== 'binary') return parseNumbers
      return pg.types.getTypeParser(oid, format)
    },
  }
  return {
    createPool: (config) => new pg.Pool({ ...config, types }),
    createClient: (config) => new pg.Client({ ...config, types }),
  }
}

/** Times and offsets are safe integers. */
function parseNumbers(text: string): (number | null)[] {
  const list = `[${text.slice(1, -1)}]`
  return JSON.parse(list.includes('NULL') ? list.replaceAll('NULL', 'null') : list) as (number | null)[]
}
