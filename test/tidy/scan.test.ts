import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scan } from './scan.ts'

const values = (text: string): string[] => scan(text).literals.map(({ value }) => value)

test('comments are blanked, and lines and indexes stay', () => {
  const text = "a // 'x'\n/* `y`\n */ b"
  assert.equal(scan(text).code, `a${' '.repeat(7)}\n${' '.repeat(6)}\n    b`)
  assert.deepEqual(values(text), [])
})

test('quotes inside other quotes and escapes do not end a string', () => {
  assert.deepEqual(values(String.raw`f('it\'s "so"', "a'b")`), [String.raw`it\'s "so"`, "a'b"])
})

test('code inside a template is code, and the text around it is not', () => {
  const { code, literals } = scan('`a ${run({ x: `in ${y}` })} b` + c')
  assert.deepEqual(
    literals.map(({ value }) => value),
    ['a ', 'in ', '', ' b'],
  )
  assert.match(code, /^ +run\(\{ x: +y +\}\) +\+ c$/)
})

test('a regular expression with quotes is not a string, and a division is not a regular expression', () => {
  assert.deepEqual(values("x = /['\"`]/g; y = 'a'"), ['a'])
  assert.deepEqual(values("x = a / b; y = 'c' / d"), ['c'])
})
