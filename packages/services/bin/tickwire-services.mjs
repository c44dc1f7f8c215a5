#!/usr/bin/env node
/** `npx @tickwire/services`. In the published package it is what was built. */

await import(new URL('../dist/cli.js', import.meta.url).href)
