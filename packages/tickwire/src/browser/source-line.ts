/** Finds the line of the source for a line of a bundle, by the source map that the bundle names. */

import type { CodeSite } from '../core/lockstep/desync/code-site.ts'
import { placeInSource } from '../core/lockstep/desync/source-map.ts'

/** How long a bundle or its map may take. The report of a desync waits for it. */
const FETCH_MS = 1500

/** The line of the source, or the line as it is where no map can be read. Only files of this page's origin are read. */
export async function sourceLine(site: CodeSite): Promise<CodeSite> {
  const url = new URL(site.file, location.href)
  if (url.origin !== location.origin) return site
  const bundle = await text(url)
  const [, mapUrl] = /\/\/# sourceMappingURL=(\S+)\s*$/.exec(bundle.trimEnd()) ?? []
  if (mapUrl === undefined) return site
  const map = new URL(mapUrl, url)
  if (map.protocol !== 'data:' && map.origin !== location.origin) return site
  return placeInSource(await text(map), site.line, site.column) ?? site
}

async function text(url: URL): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(FETCH_MS) })
  if (!response.ok) throw new Error(`${url.pathname}: ${response.status}`)
  return await response.text()
}
