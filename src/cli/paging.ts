// Flags and words of commands that list by pages, and how examples look.
import { Option } from 'commander'
import type { Page } from '../client/client.ts'
import { integer } from './flags.ts'
import type { Output } from './output.ts'

const MOST = 1000
const PAGE = 50

export function limitFlag(unlessSaid = String(PAGE)): Option {
  const flag = new Option('--limit <number>', `at most so many (default ${unlessSaid})`)
  return flag.argParser(integer({ min: 1, max: MOST }))
}

export function afterFlag(): Option {
  return new Option('--after <cursor>', 'the page that begins here, as the one before said')
}

/** Says where the next page begins, if there is one. */
export function sayNext({ items, next }: Page<unknown>, output: Output): void {
  if (next !== null) output.talk(`${output.count(items.length)} shown; next: --after ${next}`)
}

export function examples(...lines: string[]): string {
  return `Examples:\n${lines.map((line) => `  $ headrace ${line}\n`).join('')}`
}
