// Marks of unfinished or private work. The patterns have a bracket and the samples a ~ inside,
// so that this file does not match itself.
import { isSource, isTypeScript, type Rule } from '../rule.ts'
import { scan } from '../scan.ts'

function lineRule(
  options: Pick<Rule, 'title' | 'appliesTo'> & { pattern: RegExp; bad: string[]; good: string[] },
): Rule {
  const sample = (text: string): { path: string; text: string } => ({
    path: 'src/pool/taker.ts',
    text: text.replaceAll('~', ''),
  })
  return {
    title: options.title,
    appliesTo: options.appliesTo,
    check: ({ text }) =>
      text
        .split('\n')
        .map((line, index) => ({ found: options.pattern.exec(line)?.[0], number: index + 1 }))
        .filter(({ found }) => found !== undefined)
        .map(({ found, number }) => `line ${number}: ${found}`),
    bad: options.bad.map(sample),
    good: options.good.map(sample),
  }
}

const unfinished = lineRule({
  title: 'nothing is left to do, switched off or hidden from the compiler',
  appliesTo: isTypeScript,
  pattern: /\b(?:TO[D]O|FIX[M]E)\b|\.(?:on[l]y|sk[i]p)\(|@ts-(?:ign[o]re|noch[e]ck)|\bas a[n]y\b/,
  bad: ['// TO~DO: later', "test.on~ly('x', run)", "test.sk~ip('x', run)", '// @ts-ign~ore', 'x as an~y'],
  good: ['const only = skip(todo)'],
})

const noMachine = lineRule({
  title: 'no tracked file names a path of one machine or the address of a registry',
  appliesTo: () => true,
  pattern:
    /(?:^|[^a-z.])\/(?:wor[k]|far[m]|roo[t]|hom[e]|User[s])\/|registr[y]\.npmjs|rep[o]1?\.maven|de[b]\.debian\.org|"resolve[d]": *"http/,
  bad: ['cd /wor~k/main', "'/roo~t/.cache'", 'https://regis~try.npmjs.org', '"resol~ved": "https://x"'],
  good: ['GET /v1/topics', './roo~t/a', "import './wor~k/a.ts'"],
})

const noDefaultExport: Rule = {
  title: 'nothing in src is exported as default',
  appliesTo: isSource,
  check: ({ text }) =>
    /\bexport\s+default\b|\bas\s+default\b/.test(scan(text).code) ? ['export it by its name'] : [],
  bad: [
    { path: 'src/a.ts', text: 'export default function run() {}' },
    { path: 'src/a.ts', text: 'export { run as default }' },
  ],
  good: [{ path: 'src/a.ts', text: "// export default\nexport const fallback = 'export default'" }],
}

export const markRules = [unfinished, noMachine, noDefaultExport]
