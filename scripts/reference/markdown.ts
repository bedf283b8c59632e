// The little Markdown that the generated pages need.

/** A page, which says where it comes from. */
export function page(title: string, source: string, ...parts: string[]): string {
  const note = `Generated from ${source} by \`npm run reference\`; do not edit.`
  return `${[`# ${title}`, note, ...parts].join('\n\n')}\n`
}

export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(titles), line(titles.map(() => '---')), ...rows.map(line)].join('\n')
}

export function code(text: string): string {
  return `\`${text}\``
}

export function block(language: string, text: string): string {
  return `\`\`\`${language}\n${text.trim()}\n\`\`\``
}
