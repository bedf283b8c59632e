// Splits TypeScript into code and string literals without a parser: enough to see calls, imports and SQL,
// and not to see them in comments. A regular expression is told from a division by what precedes it.

export interface Literal {
  value: string
  /** Index of the opening quote. */
  index: number
}

export interface Scan {
  /** The text with comments, strings and regular expressions blanked out; indexes and lines are kept. */
  code: string
  literals: Literal[]
}

const comment = String.raw`\/\/[^\n]*|\/\*[\s\S]*?\*\/`
const quoted = String.raw`'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"`
const regExp = String.raw`\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^\/\\\n\[])+\/[a-z]*`
const token = new RegExp(`${comment}|${quoted}|${regExp}|[\`{}]`, 'g')
const beforeRegExp = /(?:^|[(,=:[!&|?{};+~>]|\breturn|\bcase)\s*$/

export function scan(text: string): Scan {
  const literals: Literal[] = []
  const code: string[] = []
  /** For each open brace: is it the `${` of a template, whose text goes on after it closes? */
  const braces: boolean[] = []
  let at = 0

  const keep = (end: number): void => {
    code.push(text.slice(at, end))
    at = end
  }
  const blank = (end: number): void => {
    code.push(text.slice(at, end).replace(/[^\n]/g, ' '))
    at = end
  }
  const templateText = (): void => {
    const end = endOfTemplateText(text, at + 1)
    literals.push({ value: text.slice(at + 1, end), index: at })
    const isOpening = text[end] === '$'
    if (isOpening) braces.push(true)
    blank(end + (isOpening ? 2 : 1))
  }
  const string = (end: number): void => {
    literals.push({ value: text.slice(at + 1, end - 1), index: at })
    blank(end)
  }

  for (;;) {
    token.lastIndex = at
    const match = token.exec(text)
    if (match === null) break
    keep(match.index)
    const found = match[0]
    const end = at + found.length
    if (found === '`' || (found === '}' && braces.pop() === true)) templateText()
    else if (found === '{' || found === '}') {
      if (found === '{') braces.push(false)
      keep(end)
    } else if (/^['"]/.test(found)) string(end)
    else if (/^\/[/*]/.test(found) || beforeRegExp.test(text.slice(0, at))) blank(end)
    else keep(at + 1)
  }
  keep(text.length)
  return { code: code.join(''), literals }
}

/** The index of the closing backtick, or of the `$` that opens the next `${`. */
function endOfTemplateText(text: string, start: number): number {
  const ending = /(?:\\[\s\S]|(?!`|\$\{)[^\\])*/y
  ending.lastIndex = start
  ending.exec(text)
  return ending.lastIndex
}
