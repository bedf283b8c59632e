// Text → filter, character by character: nothing of it is evaluated, or becomes a pattern. Pure. Rules [Q1] and [Q2].
//
//   filter   = clause *( ";" clause )             each kind at most once
//   clause   = residues / "id:" ids / "type:" words / "provider:" words
//   residues = number "%" part *( "," part )      part = number [ "-" number ]
//   ids      = number [ "-" [ number ] ] / "-" number
//   words    = word *( "," word )                 word = 1 to 64 letters, digits, ".", "_", "-"
import { MOST_PARTITIONS } from '../check.ts'
import { HeadraceError } from '../errors.ts'
import type { Filter } from './filter.ts'

/** Room for every other residue of 1,024, with types and providers beside them. */
export const LONGEST_FILTER = 8192
const MOST_WORDS = 100
const LONGEST_WORD = 64
/** No id is larger: databases count in 64 bits with a sign. */
const LARGEST_ID = 2n ** 63n - 1n
const MOST_DIGITS = 19

const KINDS = ['type', 'provider', 'id'] as const

/** The filter that a text says, or `invalid_input` with the place and what was expected there. [Q1] */
export function parseFilter(text: string): Filter {
  if (text.length > LONGEST_FILTER) {
    throw new HeadraceError(
      'invalid_input',
      `the filter has ${text.length} characters, the limit is ${LONGEST_FILTER}`,
      { remedy: 'write residues that follow each other as a range, such as 32%0-7' },
    )
  }
  return new FilterParser(text).parse()
}

class FilterParser {
  readonly #text: string
  #at = 0
  readonly #filter: Filter = { mod: null, ids: null, types: null, providers: null }

  constructor(text: string) {
    this.#text = text
  }

  parse(): Filter {
    do this.#clause()
    while (this.#skip(';'))
    if (this.#at < this.#text.length) throw this.#unexpected('"," or ";" or the end')
    return this.#filter
  }

  #clause(): void {
    const start = this.#at
    if (isDigit(this.#text[start])) {
      this.#once(start, 'residues', this.#filter.mod)
      this.#filter.mod = this.#mod()
      return
    }
    const kind = KINDS.find((known) => this.#skip(`${known}:`))
    switch (kind) {
      case 'id':
        this.#once(start, 'ids', this.#filter.ids)
        this.#filter.ids = this.#ids()
        return
      case 'type':
        this.#once(start, 'types', this.#filter.types)
        this.#filter.types = this.#words()
        return
      case 'provider':
        this.#once(start, 'providers', this.#filter.providers)
        this.#filter.providers = this.#words()
        return
      case undefined:
        throw this.#unexpected('residues such as 32%1,5,9, or "id:", "type:" or "provider:"')
    }
  }

  #once(start: number, name: string, present: unknown): void {
    if (present !== null) throw refuse(start, `the ${name} stand here a second time`)
  }

  #mod(): Filter['mod'] {
    const of = this.#number({ name: 'the divisor', min: 1, max: MOST_PARTITIONS })
    if (!this.#skip('%')) throw this.#unexpected('"%"')
    const residues = new Set<number>()
    do {
      const from = this.#number({ name: 'a residue', min: 0, max: of - 1 })
      const to = this.#skip('-') ? this.#number({ name: 'the end of a range', min: from, max: of - 1 }) : from
      for (let residue = from; residue <= to; residue += 1) residues.add(residue)
    } while (this.#skip(','))
    return { of, residues: [...residues].toSorted((a, b) => a - b) }
  }

  #ids(): Filter['ids'] {
    if (this.#skip('-')) return { from: null, to: this.#integer('the last id') }
    const from = this.#integer('the first id')
    if (!this.#skip('-')) return { from, to: from }
    if (!isDigit(this.#text[this.#at])) return { from, to: null }
    const start = this.#at
    const to = this.#integer('the last id')
    if (to < from) throw refuse(start, `the last id is ${to}, expected ${from} or more`)
    return { from, to }
  }

  #words(): string[] {
    const words = new Set<string>()
    do {
      const start = this.#at
      while (isWordCharacter(this.#text[this.#at])) this.#at += 1
      const word = this.#text.slice(start, this.#at)
      if (word === '') throw this.#unexpected('a letter, a digit, ".", "_" or "-"')
      if (word.length > LONGEST_WORD) {
        throw refuse(start, `a name has ${word.length} characters, the limit is ${LONGEST_WORD}`)
      }
      words.add(word)
      if (words.size > MOST_WORDS) throw refuse(start, `there are more than ${MOST_WORDS} names`)
    } while (this.#skip(','))
    return [...words].toSorted(byCharacter)
  }

  #number({ name, min, max }: { name: string; min: number; max: number }): number {
    const start = this.#at
    const number = this.#integer(name)
    if (number >= min && number <= max) return Number(number)
    throw refuse(start, `${name} is ${number}, expected a number from ${min} to ${max}`)
  }

  #integer(name: string): bigint {
    const start = this.#at
    while (isDigit(this.#text[this.#at])) this.#at += 1
    const digits = this.#text.slice(start, this.#at)
    if (digits === '') throw this.#unexpected('a digit')
    const number = digits.length > MOST_DIGITS ? LARGEST_ID + 1n : BigInt(digits)
    if (number > LARGEST_ID) throw refuse(start, `${name} is larger than ${LARGEST_ID}`)
    return number
  }

  /** Goes on behind `token` if it stands here. */
  #skip(token: string): boolean {
    const isHere = this.#text.startsWith(token, this.#at)
    if (isHere) this.#at += token.length
    return isHere
  }

  #unexpected(expected: string): HeadraceError {
    const found = this.#text.slice(this.#at, this.#at + 1)
    return refuse(this.#at, `found ${found === '' ? 'the end' : JSON.stringify(found)}, expected ${expected}`)
  }
}

function refuse(at: number, what: string): HeadraceError {
  return new HeadraceError('invalid_input', `the filter is not understood at character ${at + 1}: ${what}`, {
    remedy: 'write it as in 32%1,5,9;id:1000-1999;type:vm,host;provider:aws-1',
  })
}

function isDigit(character: string | undefined): boolean {
  return character !== undefined && character >= '0' && character <= '9'
}

function isWordCharacter(character: string | undefined): boolean {
  if (character === undefined) return false
  const isLetter = (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z')
  return isLetter || isDigit(character) || character === '.' || character === '_' || character === '-'
}

function byCharacter(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
