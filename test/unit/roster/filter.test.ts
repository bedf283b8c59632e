// Filters: what the text means, that it is read and printed without loss, and that nothing in it is believed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { murmur2 } from '../../../src/partition.ts'
import { type Random, createRandom } from '../../../src/random.ts'
import { allot } from '../../../src/roster/allot.ts'
import {
  type Filter,
  type FilteredObject,
  matchesFilter,
  printFilter,
  residueOf,
  residuesFilter,
} from '../../../src/roster/filter.ts'
import { LONGEST_FILTER, parseFilter } from '../../../src/roster/parse-filter.ts'

const NONE: Filter = { mod: null, ids: null, types: null, providers: null }

const meanings: [text: string, filter: Partial<Filter>, printed?: string][] = [
  ['32%1,5,9', { mod: { of: 32, residues: [1, 5, 9] } }],
  ['32%0-7', { mod: { of: 32, residues: [0, 1, 2, 3, 4, 5, 6, 7] } }],
  ['8%7,0-2,1,5-5', { mod: { of: 8, residues: [0, 1, 2, 5, 7] } }, '8%0-2,5,7'],
  ['8%3-4', { mod: { of: 8, residues: [3, 4] } }, '8%3,4'],
  ['1%0', { mod: { of: 1, residues: [0] } }],
  ['id:1000-1999', { ids: { from: 1000n, to: 1999n } }],
  ['id:1000-', { ids: { from: 1000n, to: null } }],
  ['id:-1999', { ids: { from: null, to: 1999n } }],
  ['id:7', { ids: { from: 7n, to: 7n } }, 'id:7-7'],
  ['id:0-9223372036854775807', { ids: { from: 0n, to: 2n ** 63n - 1n } }],
  ['type:vm,host,vm', { types: ['host', 'vm'] }, 'type:host,vm'],
  ['provider:aws-1', { providers: ['aws-1'] }],
  [
    'provider:a;type:id;id:-3;2%1',
    { mod: { of: 2, residues: [1] }, ids: { from: null, to: 3n }, types: ['id'], providers: ['a'] },
    '2%1;id:-3;type:id;provider:a',
  ],
]

for (const [text, filter, printed = text] of meanings) {
  test(`[Q1] ${text} is understood, and printed as ${printed}`, () => {
    assert.deepEqual(parseFilter(text), { ...NONE, ...filter })
    assert.equal(printFilter(parseFilter(text)), printed)
  })
}

const refusals: [text: string, message: RegExp][] = [
  ['', /at character 1: found the end, expected residues .* "id:", "type:" or "provider:"/],
  ['32', /at character 3: found the end, expected "%"/],
  ['32%', /at character 4: found the end, expected a digit/],
  ['32%1,', /at character 6: found the end, expected a digit/],
  ['32%1 ', /at character 5: found " ", expected "," or ";" or the end/],
  ['32%32', /at character 4: a residue is 32, expected a number from 0 to 31/],
  ['32%5-3', /at character 6: the end of a range is 3, expected a number from 5 to 31/],
  ['32%-1', /at character 4: found "-", expected a digit/],
  ['0%0', /at character 1: the divisor is 0, expected a number from 1 to 1024/],
  ['1025%0', /the divisor is 1025/],
  ['2%1;', /at character 5: found the end/],
  ['2%1;;type:a', /at character 5: found ";"/],
  ['2%1;3%1', /at character 5: the residues stand here a second time/],
  ['type:a;type:b', /at character 8: the types stand here a second time/],
  ['id:', /at character 4: found the end, expected a digit/],
  ['id:-', /at character 5: found the end, expected a digit/],
  ['id:9-1', /at character 6: the last id is 1, expected 9 or more/],
  ['id:9223372036854775808', /the first id is larger than 9223372036854775807/],
  [`id:${'9'.repeat(8000)}`, /the first id is larger than/],
  ['type:', /at character 6: found the end, expected a letter/],
  ["type:a' OR 1=1--", /at character 7: found "'"/],
  ['type:\u0000', /at character 6: found "\\u0000"/],
  [`type:${'a'.repeat(65)}`, /a name has 65 characters, the limit is 64/],
  [`type:${Array.from({ length: 101 }, (_, nth) => nth).join(',')}`, /more than 100 names/],
  ['constructor:a', /at character 1: found "c"/],
  ['(()=>1)()', /at character 1: found "\("/],
  ['٣%1', /at character 1/],
  ['x'.repeat(LONGEST_FILTER + 1), /has 8193 characters, the limit is 8192/],
]

for (const [text, message] of refusals) {
  test(`[Q1] ${JSON.stringify(text.slice(0, 24))} is refused with its place and what was expected`, () => {
    assert.throws(() => parseFilter(text), { code: 'invalid_input', message, remedy: /32%/ })
  })
}

function randomFilter({ below, pick }: Random): Filter {
  const of = 1 + below(pick([4, 32, 1024]))
  const residues = Array.from({ length: 1 + below(of) }, () => below(of))
  const words = (): string[] => {
    const chosen = Array.from({ length: 1 + below(5) }, () =>
      pick(['vm', 'host', 'a.b', '_', '-', 'Z9', 'id']),
    )
    return [...new Set(chosen)].toSorted((a, b) => (a < b ? -1 : 1))
  }
  const from = BigInt(below(2 ** 40))
  const to = from + BigInt(below(1000))
  return {
    mod: below(4) === 0 ? null : residuesFilter(of, residues).mod,
    ids: pick([null, { from, to }, { from, to: null }, { from: null, to }]),
    types: pick([null, words()]),
    providers: words(),
  }
}

test('[Q2] every filter is the same after it was printed and parsed', () => {
  for (let seed = 1; seed <= 2000; seed += 1) {
    const filter = randomFilter(createRandom(seed))
    assert.deepEqual(parseFilter(printFilter(filter)), filter, `seed ${seed}`)
  }
})

test('[Q2] the longest filter of residues can be printed and parsed', () => {
  const filter = residuesFilter(
    1024,
    Array.from({ length: 512 }, (_, nth) => nth * 2 + 1),
  )
  assert.ok(printFilter(filter).length <= LONGEST_FILTER)
  assert.deepEqual(parseFilter(printFilter(filter)), filter)
})

test('[Q1] noise is parsed to what prints as the same meaning, or refused: nothing else', () => {
  const signs = [
    '0',
    '1',
    '3',
    '9',
    '%',
    ',',
    '-',
    ';',
    ':',
    'id:',
    'type:',
    'provider:',
    'a',
    ' ',
    '\n',
    '\\',
    '"',
    '😀',
    '\ud800',
  ]
  let understood = 0
  for (let seed = 1; seed <= 20_000; seed += 1) {
    const random = createRandom(seed)
    const text = Array.from({ length: 1 + random.below(12) }, () => random.pick(signs)).join('')
    try {
      const filter = parseFilter(text)
      assert.deepEqual(parseFilter(printFilter(filter)), filter, `seed ${seed}`)
      understood += 1
    } catch (error) {
      assert.equal((error as { code?: string }).code, 'invalid_input', `seed ${seed}: ${String(error)}`)
    }
  }
  assert.ok(understood > 50, `${understood} were understood`)
})

test('[Q3] the shares of all members hold every object once, by id and by hash', () => {
  for (let seed = 1; seed <= 30; seed += 1) {
    const { below, pick } = createRandom(seed)
    const of = 1 + below(64)
    const members = Array.from({ length: 1 + below(9) }, (_, nth) => {
      return { id: `m${nth}`, weight: 1 + below(3), serves: ['share'] }
    })
    const owners = Array.from({ length: of }, () => pick([null, 'm0', 'gone']))
    const planned = allot(members, [{ resource: 'share', owners }]).get('share') ?? []
    const shares = members.map(({ id }) =>
      planned.flatMap((owner, residue) => (owner === id ? [residue] : [])),
    )
    const filters = shares.filter(({ length }) => length > 0).map((share) => residuesFilter(of, share))
    for (const id of [0, 31, below(2 ** 31), -below(1000), `${below(10)}`, 2n ** 62n]) {
      for (const by of ['id', 'hash'] as const) {
        const count = filters.filter((filter) =>
          matchesFilter(parseFilter(printFilter(filter)), { id }, by),
        ).length
        assert.equal(count, 1, `seed ${seed}: ${id} by ${by}`)
      }
    }
  }
})

const objects: [text: string, object: FilteredObject, matches: boolean][] = [
  ['32%1,5,9', { id: 33 }, true],
  ['32%1,5,9', { id: '34' }, false],
  ['32%1,5,9', { id: 2n ** 60n + 5n }, true],
  ['32%31', { id: -1 }, true],
  ['id:10-20', { id: 10 }, true],
  ['id:10-20', { id: '20' }, true],
  ['id:10-20', { id: 21 }, false],
  ['id:10-', { id: 9 }, false],
  ['id:-20', { id: -5 }, true],
  ['type:vm,host', { id: 1, type: 'vm' }, true],
  ['type:vm,host', { id: 1, type: 'disk' }, false],
  ['type:vm,host', { id: 1 }, false],
  ['provider:aws-1', { id: 1, provider: 'aws-1' }, true],
  ['provider:aws-1', { id: 1 }, false],
  ['2%1;type:vm', { id: 3, type: 'vm' }, true],
  ['2%1;type:vm', { id: 4, type: 'vm' }, false],
]

for (const [text, object, expected] of objects) {
  const written = `${object.id} ${object.type ?? ''} ${object.provider ?? ''}`.trim()
  test(`[Q3] ${text} ${expected ? 'holds' : 'does not hold'} ${written}`, () => {
    assert.equal(matchesFilter(parseFilter(text), object, 'id'), expected)
  })
}

test("[Q3] by hash the residue is that of Kafka's partitioner", () => {
  assert.equal(residueOf('vm-17', 32, 'hash'), (murmur2(Buffer.from('vm-17')) & 0x7fffffff) % 32)
  assert.equal(residueOf(17, 32, 'hash'), residueOf('17', 32, 'hash'))
})

test('[Q3] an id that is no whole number is refused by id, and not left to nobody', () => {
  for (const id of ['vm-17', '', '1.5', 1.5, Number.NaN, 2 ** 60]) {
    assert.throws(() => matchesFilter(parseFilter('32%1'), { id }, 'id'), {
      code: 'invalid_input',
      remedy: /hash/,
    })
  }
  assert.throws(() => matchesFilter(parseFilter('id:1-5'), { id: 'vm-17' }, 'hash'), {
    code: 'invalid_input',
  })
  assert.equal(typeof matchesFilter(parseFilter('32%1'), { id: 'vm-17' }, 'hash'), 'boolean')
})
