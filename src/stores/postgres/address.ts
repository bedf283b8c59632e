// A PostgreSQL address: what the driver gets of it, and what is ours.
import { HeadraceError } from '../../errors.ts'
import { maskAddress } from '../../mask.ts'

export interface Address {
  /** For the driver, without our own parameters. */
  connection: string
  schema: string
  /** The most connections, one that listens not counted. */
  max: number
  /** For people: without password and parameters. */
  shown: string
}

const SCHEMA = /^[a-z_][a-z0-9_]{0,62}$/
const FIRST_MAX = 10
/** Two are for pulses, roster and fences alone. */
const LEAST_MAX = 3

/** Reads `postgres://user:password@host:port/database?schema=headrace&max=10`. */
export function parseAddress(address: string): Address {
  let url: URL
  try {
    url = new URL(address)
  } catch {
    // Without its cause, which holds the address with the password.
    throw refusal(
      'the PostgreSQL address cannot be read',
      'write postgres://user:password@host:5432/database',
    )
  }
  refuseLooseAt(url)
  const schema = url.searchParams.get('schema') ?? 'headrace'
  if (!SCHEMA.test(schema) || schema.startsWith('pg_')) {
    throw refusal(
      `the schema ${JSON.stringify(schema)} is not allowed`,
      'use up to 63 small letters, digits and underscores, not beginning with a digit or pg_',
    )
  }
  const max = Number(url.searchParams.get('max') ?? FIRST_MAX)
  if (!Number.isInteger(max) || max < LEAST_MAX || max > 1000) {
    throw refusal(`max is ${url.searchParams.get('max')}`, `choose a whole number from ${LEAST_MAX} to 1000`)
  }
  url.searchParams.delete('schema')
  url.searchParams.delete('max')
  return { connection: url.href, schema, max, shown: show(url, schema) }
}

/** An `@` behind the host is one of a password that was not escaped: a part of it would pass for host and database. */
function refuseLooseAt({ username, pathname, search, hash }: URL): void {
  if (!`${pathname}${hash}`.includes('@') && (username !== '' || !search.includes('@'))) return
  throw refusal(
    'the PostgreSQL address has an "@" behind its host',
    'write the characters / ? # @ : of a user, password or database as %2F %3F %23 %40 %3A',
  )
}

function show({ protocol, username, host, pathname }: URL, schema: string): string {
  const user = username === '' ? '' : `${username}@`
  return maskAddress(
    `${protocol}//${user}${host}${pathname}${schema === 'headrace' ? '' : `?schema=${schema}`}`,
  )
}

function refusal(message: string, remedy: string): HeadraceError {
  return new HeadraceError('store_unknown', message, { remedy })
}
