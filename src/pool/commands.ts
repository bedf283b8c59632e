// Commands that an answer tells to paste: what they name is written as a shell reads it back.
import { toIso } from '../clock.ts'
import type { Evidence } from './evidence.ts'

/** Whom to ask about a key that another member owns. */
export function askElsewhere({ pool, key, entry }: Evidence, address: string | null): string {
  if (address === null) return 'serve that process, so that it can be asked: serve(race) of headrace/server'
  const slot = entry?.slot ?? null
  const at = slot === null ? '' : ` --at ${toIso(slot)}`
  const flags = `--pool ${pool}${at} --server ${shellWord(address)}`
  return key.startsWith('-')
    ? `ask it: headrace why ${flags} ${keyArgument(key)}`
    : `ask it: headrace why ${keyArgument(key)} ${flags}`
}

/** A key as the last argument: one that begins with a dash is no flag. */
export function keyArgument(key: string): string {
  return key.startsWith('-') ? `-- ${shellWord(key)}` : shellWord(key)
}

export function shellWord(text: string): string {
  return /^[\w.,:@%+/=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
