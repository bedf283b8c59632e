// The address that a server gives to others.
import { hostname } from 'node:os'
import type { Options } from '../options.ts'

/** Where others reach a server that was told no address. */
export function ownAddress({ host, port }: Pick<Options, 'host' | 'port'>): string {
  // Every address of the machine is none that another machine could use.
  const reachable = host === '0.0.0.0' || host === '::' ? hostname() : host
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}
