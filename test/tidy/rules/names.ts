// File names: kebab-case, a noun or a verb, no buckets, no index.ts that hides where things are.
import type { Rule } from '../rule.ts'

const folders = /^(src|test|proof|scripts|bench|examples|web)\//
const kebab = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+)*$/
const bucket = /^(utils?|helpers?|common|types?|managers?|base|misc|lib)$|-(utils?|helpers?|manager)$/

const stems = (path: string): string[] => path.split('/').map((part) => part.replace(/(?<=.)\..*$/, ''))

const empty = (path: string): { path: string; text: string } => ({ path, text: '' })

const kebabCase: Rule = {
  title: 'every file and folder of code has a kebab-case name',
  appliesTo: (path) => folders.test(path),
  check: ({ path }) =>
    path
      .split('/')
      .filter((part) => !kebab.test(part) && part !== 'README.md')
      .map((part) => `${part} is not kebab-case`),
  bad: [empty('src/pool/deadLetters.ts'), empty('src/Pool/store.ts'), empty('test/unit/a_b.test.ts')],
  good: [empty('src/pool/dead-letters.ts'), empty('src/stores/sqlite/migrations/0001-start.sql')],
}

const noBucket: Rule = {
  title:
    'no file or folder has a name that says nothing, such as utils, helpers, common, types, manager, base',
  appliesTo: (path) => folders.test(path),
  check: ({ path }) =>
    stems(path)
      .filter((stem) => bucket.test(stem))
      .map((stem) => `${stem} says nothing about what is inside`),
  bad: [
    empty('src/utils.ts'),
    empty('src/helpers/a.ts'),
    empty('src/pool/pool-manager.ts'),
    empty('src/log/types.d.ts'),
  ],
  good: [empty('src/duration.ts'), empty('src/base64.ts')],
}

const oneIndex: Rule = {
  title: 'only src/index.ts is called index',
  appliesTo: (path) => folders.test(path),
  check: ({ path }) =>
    /(^|\/)index\.[a-z]+$/.test(path) && path !== 'src/index.ts' && !/^web\/index\.html$/.test(path)
      ? ['name the file for what is in it']
      : [],
  bad: [empty('src/pool/index.ts'), empty('test/index.ts')],
  good: [empty('src/index.ts'), empty('src/pool/index-scan.ts')],
}

export const nameRules = [kebabCase, noBucket, oneIndex]
