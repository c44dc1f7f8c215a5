/**
 * Marks the calls that initialise constants of a module as free of side effects, which package.json promises
 * ("sideEffects"). A bundler can then leave the constants out that a page does not use. In a module of its own it would
 * leave out the whole module; in a chunk it looks at each statement.
 */

import type { Plugin } from 'esbuild'
import { readFileSync } from 'node:fs'

const CALLED = /^((?:export )?const [\w$]+(?:: [^=\n]+)? = )((?:new )?[\w$.]+(?:<[^=;]*>)?\(.*)$/gm
const CALL = /(?<![\w$.])(?:new [\w$.]+|[\w$.]+(?=\())(?=[<(])/g
/** An object that begins with the members of another one: a getter of that one might do anything. */
const SPREAD = /^((?:export )?const [\w$]+(?:: [^=\n]+)? = )\{\n( {2}\.\.\.[\s\S]*?)\n\}$/gm
/** How esbuild writes the object of `export * as`. */
const NAMESPACE = /^var ([\w$]+) = \{\};\n__export\(\1, \{$/gm

export const markPure: Plugin = {
  name: 'mark-pure',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, ({ path }) => {
      return { contents: mark(readFileSync(path, 'utf8')), loader: 'ts' }
    })
  },
}

/** Adds no lines, so that the source map stays right. */
function mark(source: string): string {
  return source
    .replace(SPREAD, '$1/* @__PURE__ */ Reflect.apply(() => ({\n$2\n}), undefined, [])')
    .replace(CALLED, (_line, head: string, call: string) => {
      return head + call.replace(CALL, (name: string) => `/* @__PURE__ */ ${name}`)
    })
}

/** The same for the objects of `export * as` in a bundle. */
export function markNamespaces(bundle: string): string {
  return bundle.replace(
    NAMESPACE,
    'var $1 = /* @__PURE__ */ ((all, target = {}) => (__export(target, all), target))(\n{',
  )
}
