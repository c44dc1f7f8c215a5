/**
 * Code in documents, taken from files that run.
 *
 * A marker in a Markdown file, followed by a fenced block, names where the block comes from:
 *
 *     <!-- code: games/hello/game.ts -->                 the whole file
 *     <!-- code: test/sim/hello.test.ts#walking -->      from `// #region walking` to `// #endregion`
 *
 * `npm run check` fails when block and file differ; `npm run check -- --fix` writes the file's text into the block.
 */

import { lineAt } from './tidy/source-file.ts'
import type { Finding, Repository } from './tidy/repository.ts'

const MARKED_BLOCK = /(<!-- code: ([\w./-]+)(?:#([\w-]+))? -->)(?:\n+(```+)([a-z]*)\n[\s\S]*?^\4[ \t]*$)?/gm
type Captured = [marker: string, source: string, region?: string, fence?: string, language?: string, offset?: number]
const REGION_MARK = /^[ \t]*\/\/ #(?:region|endregion)\b.*\n?/gm

/** Blocks that are not what their file says, and markers that lead nowhere. */
export function docsCodeFindings(repository: Repository): Finding[] {
  return documents(repository).flatMap(([path, text]) => render(repository, path, text).findings)
}

/** Every document whose blocks had to change, with its new text. */
export function fixedDocs(repository: Repository): Map<string, string> {
  const fresh = documents(repository).map(([path, text]) => [path, render(repository, path, text).text] as const)
  return new Map(fresh.filter(([path, text]) => text !== repository.texts.get(path)))
}

function documents(repository: Repository): [string, string][] {
  return [...repository.texts].filter(([path]) => /^[^/]+\.md$|^(?:docs|packages)\/.*\.md$/.test(path))
}

function render(repository: Repository, path: string, text: string): { text: string; findings: Finding[] } {
  const findings: Finding[] = []
  const rendered = text.replace(MARKED_BLOCK, (whole, ...captured) => {
    const [marker, source, region, fence = '```', language, offset] = captured as Captured
    const report = (problem: string): string => {
      findings.push({ rule: 'docs-code', path, line: lineAt(text, offset ?? 0), problem })
      return whole
    }
    const name = region === undefined ? source : `${source}#${region}`
    const code = excerpt(repository.texts.get(source), region)
    if (code === undefined) return report(`takes code from ${name}, which does not exist`)
    const fresh = `${marker}\n${fence}${language || source.replace(/^.*\./, '')}\n${code}${fence}`
    if (fresh !== whole) report(`differs from ${name}: npm run check -- --fix`)
    return fresh
  })
  return { text: rendered, findings }
}

/** The file, or the region without the indentation its lines share; region marks are not part of either. */
function excerpt(text: string | undefined, region: string | undefined): string | undefined {
  if (text === undefined || region === undefined) return text?.replace(REGION_MARK, '').trimEnd().concat('\n')
  const span = new RegExp(`^[ \\t]*// #region ${region}[ \\t]*\\n([\\s\\S]*?)^[ \\t]*// #endregion`, 'm')
  const body = span.exec(text)?.[1]
  if (body === undefined) return undefined
  const lines = body.replace(REGION_MARK, '').trimEnd().split('\n')
  const indents = lines.filter((line) => line.trim() !== '').map((line) => line.search(/\S/))
  return `${lines.map((line) => line.slice(Math.min(...indents))).join('\n')}\n`
}
