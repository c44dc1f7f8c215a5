/** The image, compose file, Helm chart and templates of deploy/: as far as they can be read without a cluster. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Deployment, StatefulSet } from 'kubernetes-models/apps/v1'
import { Service } from 'kubernetes-models/v1'
import { expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { envName, readOptions } from '../../packages/services/src/cli/options.ts'
import { SERVICES } from '../../packages/services/src/cli/run.ts'
import { ROOT } from '../../tools/typecheck.ts'
import { mustRun, runTool } from './debian-tool.ts'
import { renderTemplate } from './helm-template.ts'

const DEPLOY = join(ROOT, 'deploy')
const CHART = join(DEPLOY, 'helm/tickwire')

const readDeploy = (...path: string[]): string => readFileSync(join(DEPLOY, ...path), 'utf8')

interface ComposeService {
  readonly image: string
  readonly command?: readonly string[]
  readonly environment?: { readonly [name: string]: unknown }
  readonly read_only?: boolean
}

test.runIf(mustRun('docker-compose'))('[DEPLOY5] docker-compose accepts the file, with every profile', () => {
  const file = join(DEPLOY, 'compose.yaml')
  const profiles = ['lockstep', 'scaled', 'observability'].flatMap((each) => ['--profile', each])
  const whole = runTool('docker-compose', ['-f', file, ...profiles, 'config', '-q'])
  expect(whole.isRight, whole.text).toBe(true)
  const wrong = readDeploy('compose.yaml').replace('read_only:', 'readonly:')
  expect(runTool('docker-compose', ['-f', '-', 'config', '-q'], wrong, DEPLOY).text).toContain('readonly')
})

test('[DEPLOY5] every container of ours is read-only, and has a service and options that exist', () => {
  const compose = parse(readDeploy('compose.yaml'), { merge: true })
  const services = compose.services as Record<string, ComposeService>
  const ours = Object.values(services).filter(({ image }) => image === 'tickwire')
  expect(ours.map(({ command }) => command?.[0])).toEqual(['track', 'rendezvous', 'relay', 'lockstep', 'fleet'])
  for (const { command = [], environment = {}, read_only: isReadOnly } of ours) {
    expect(isReadOnly).toBe(true)
    expectOptions(command[0] ?? '', Object.keys(environment))
  }
  // What was asked for: these numbers, and Redis only when asked for.
  expect(services['track']?.environment)
    .toMatchObject({ STORE: '${STORE:-memory}', HEARTBEAT_TTL: '30s', MAX_LISTINGS: 1000, RATE_LIMIT: '10/min' })
  expect(services['redis']).toMatchObject({ profiles: ['scaled'] })
})

test('[DEPLOY5] the image runs as a user without rights, and its check asks the operator port', () => {
  const text = readDeploy('Dockerfile')
  expect(text).toMatch(/^ARG BASE=node:24-slim$/m)
  expect(text).toMatch(/^USER 10001:10001$/m)
  expect(text).toMatch(/HEALTHCHECK[^]*127\.0\.0\.1:9091\/healthz/)
  const [, service = ''] = /^CMD \["(\w+)"\]$/m.exec(text) ?? []
  expectOptions(service, [...text.matchAll(/^ENV .*?(OPS_ADDRESS)=/gm)].map(([, name]) => name ?? ''))
})

test('[DEPLOY9] every tracker of deploy/ lets hosts of other machines publish', () => {
  const services = parse(readDeploy('compose.yaml'), { merge: true }).services as Record<string, ComposeService>
  const inCompose = Object.entries(services['track']?.environment ?? {})
    .map(([name, value]) => [name, String(value).replace(/^\$\{\w+:-(.*)\}$/, '$1')])
  const tracking = renderChart().find(({ metadata }) => metadata.name === 'my-tracking')
  const [container] = tracking?.spec.template?.spec.containers ?? []
  const inChart = Object.fromEntries(container?.env.map(({ name, value }) => [name, value]) ?? [])
  const trackers = [
    { args: services['track']?.command ?? [], env: Object.fromEntries(inCompose) },
    { args: container?.args ?? [], env: inChart },
    ...hosterCommands().map((args) => ({ args, env: {} })),
  ]
  for (const { args: [service, ...args], env } of trackers) {
    expect(service).toBe('track')
    const { publish, issuer } = readOptions(SERVICES.get('track')?.options ?? {}, { args, env })
    const isPossible = publish === 'open' || publish === 'token' && (issuer as readonly string[]).length > 0
    expect(isPossible, JSON.stringify([args, env])).toBe(true)
  }
})

interface Resource {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: { readonly [key: string]: unknown; readonly replicas?: number; readonly template?: PodTemplate }
}
interface PodTemplate {
  readonly spec: { readonly containers: readonly Container[] }
}
interface Container {
  readonly args: readonly string[]
  readonly env: readonly { readonly name: string; readonly value?: string }[]
  readonly ports: readonly { readonly protocol?: string; readonly hostPort?: number }[]
  readonly resources: unknown
  readonly securityContext: unknown
}

function renderChart(): readonly Resource[] {
  const Values = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8'))
  return readdirSync(join(CHART, 'templates')).flatMap((name) => {
    const text = readFileSync(join(CHART, 'templates', name), 'utf8')
    return parseAllDocuments(renderTemplate(text, { Values, Release: { Name: 'my' } })).flatMap((document) => {
      expect(document.errors).toEqual([])
      return document.toJSON() === null ? [] : [document.toJSON() as Resource]
    })
  })
}

test('[DEPLOY6] the chart renders to a tracker and to relays by region, and no Service carries UDP', () => {
  const resources = renderChart()
  const names = resources.map(({ kind, metadata, spec }) => `${kind} ${metadata.name} ${spec.replicas ?? ''}`.trim())
  expect(names).toEqual([
    'StatefulSet my-relay-eu-west 2', 'StatefulSet my-relay-us-east 2', 'StatefulSet my-relay-ap-southeast 1',
    'Service my-relay', 'Deployment my-tracking 3', 'Service my-tracking',
  ])
  for (const { spec: { template } } of resources) {
    for (const { args, env, securityContext } of template?.spec.containers ?? []) {
      const [service = '', ...rest] = args
      readOptions(SERVICES.get(service)?.options ?? {}, { args: rest, env: {} })
      expectOptions(service, env.map(({ name }) => name))
      expect(securityContext).toMatchObject({ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false })
    }
  }
  const relay = resources[0]?.spec.template?.spec.containers[0]
  expect(relay?.ports).toContainEqual({ name: 'relay-udp', protocol: 'UDP', containerPort: 7777, hostPort: 7777 })
  expect(relay?.resources)
    .toEqual({ requests: { cpu: '200m', memory: '128Mi' }, limits: { cpu: '1000m', memory: '256Mi' } })
  expect(resources[4]?.spec.template?.spec.containers[0]?.resources)
    .toEqual({ requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '500m', memory: '128Mi' } })
  const services = resources.filter(({ kind }) => kind === 'Service')
  expect(JSON.stringify(services)).not.toContain('UDP')
  expect(services[1]?.spec['sessionAffinity']).toBe('ClientIP')
})

test('[DEPLOY6] what the chart renders to has the types that Kubernetes expects', () => {
  const kinds = { Deployment, Service, StatefulSet } as const
  const problemOf = (resource: Resource): string => {
    try {
      // reason: whether it has the type of its kind is what this finds out
      new kinds[resource.kind as keyof typeof kinds](resource as never).validate()
      return ''
    } catch (error) {
      return String(error)
    }
  }
  const resources = renderChart()
  expect(resources.map(problemOf)).toEqual(resources.map(() => ''))
  const [wrong] = JSON.parse(JSON.stringify(resources).replaceAll('"containerPort":7777', '"containerPort":"7777"'))
  expect(problemOf(wrong)).toContain('containerPort must be integer')
})

test('[DEPLOY6] templates of hosters and of Agones are YAML, and their commands have options that exist', () => {
  const fleet = parse(readDeploy('agones/fleet.yaml'))
  expect(fleet).toMatchObject({ apiVersion: 'agones.dev/v1', kind: 'Fleet' })
  for (const [service = '', ...args] of hosterCommands())
    expect(readOptions(SERVICES.get(service)?.options ?? {}, { args, env: {} })).toMatchObject({ port: 8080 })
})

/** The commands of the templates of hosters, word by word. */
function hosterCommands(): readonly string[][] {
  const [render] = parse(readDeploy('templates/render.yaml')).services as { dockerCommand: string }[]
  const fly = /app = "(track .*)"/.exec(readDeploy('templates/fly.toml'))?.[1] ?? ''
  return [render?.dockerCommand.replace('tickwire ', '') ?? '', fly].map((command) => command.split(' '))
}

function expectOptions(service: string, variables: readonly string[]): void {
  const options = Object.keys(SERVICES.get(service)?.options ?? {}).map(envName)
  for (const each of variables) expect(options, service).toContain(each)
}
