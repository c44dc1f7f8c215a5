import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { describeStates } from '../../packages/tickwire/src/core/connection/states.ts'
import { PROTOCOL_VERSION } from '../../packages/tickwire/src/core/packet/header.ts'

const STANDARD = new URL('../../docs/wire/STANDARD.md', import.meta.url)
const MACHINE = new URL('../../docs/wire/STATE-MACHINE.md', import.meta.url)
const DIAGRAM = /```mermaid\n[\s\S]*?```/

test('[CONN1] the states drawn in the docs are those of the table', () => {
  const text = readFileSync(MACHINE, 'utf8')
  const drawn = text.replace(DIAGRAM, `\`\`\`mermaid\n${describeStates()}\n\`\`\``)
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(MACHINE, drawn)
  else expect(text, 'UPDATE_DOCS=1 npx vitest run test/reference/packet-docs.test.ts').toBe(drawn)
})

test('[PKT1] the standard describes the version that the engine sends', () => {
  expect(readFileSync(STANDARD, 'utf8')).toContain(`# The wire, version ${PROTOCOL_VERSION}`)
})

test('[PKT1] each document of the wire ends with a section about what it does not cover', () => {
  for (const page of [STANDARD, MACHINE]) {
    expect([...readFileSync(page, 'utf8').matchAll(/^## .*$/gm)].at(-1)?.[0]).toBe('## What this does not do')
  }
})
