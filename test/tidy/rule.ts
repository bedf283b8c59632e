// What a tidy rule is: a pure function from one file to what is wrong in it, so that a bad sample can prove
// that the rule is able to fail. rules.test.ts runs every rule on its samples and on the tree.

export interface File {
  /** From the root of the repository, with forward slashes. */
  path: string
  text: string
}

export interface Rule {
  /** A sentence: the title of its test. */
  title: string
  appliesTo(path: string): boolean
  /** One line per fault, without the path; empty when the file is fine. */
  check(file: File): string[]
  /** Small files that the rule must refuse. */
  bad: File[]
  /** Small files near the border that the rule must accept. */
  good: File[]
}

export const isTypeScript = (path: string): boolean => /\.tsx?$/.test(path)
export const isSource = (path: string): boolean => path.startsWith('src/') && isTypeScript(path)
export const lineOf = (text: string, index: number): number => text.slice(0, index).split('\n').length
