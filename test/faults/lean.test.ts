import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { EXIT } from '../../src/core/errors.ts'
import { type Reply, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { startAnthropicServer } from '../../src/rehearsal/anthropic/server.ts'
import { startTelegramServer, type TelegramServer } from '../../src/rehearsal/telegram/server.ts'
import { startSearchServer } from '../../src/rehearsal/web/server.ts'
import { toolResult } from '../e2e/obedient.ts'
import { DaemonChild, PRODUCT } from './daemon-child.ts'
import { discordPlace, slackPlace } from './other-platforms.ts'
import { CASE } from './rounds.ts'

const ADA = 111
const HEAVY = /^(discord\.js|@discordjs\/.*|@slack\/.*|node-cron|@anthropic-ai\/sdk|undici|turndown)$/

/** A character for which the engine keeps two bytes for each of its file. */
const WIDE = /[\u{100}-\u{10FFFF}]/u

/** The bundler names its files from here. */
const ROOT = join(dirname(PRODUCT), '..')

interface Installed {
  readonly telegram: TelegramServer
  /** Runs the built program until Ada is answered; returns the packages it has loaded. */
  run(config: object): Promise<string[]>
  /** Does the same; returns the files. */
  runFiles(config: object): Promise<string[]>
}

async function install(): Promise<Installed> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-lean-'))
  const coverage = join(folder, 'coverage')
  const configFile = join(folder, 'parley.yaml')
  const logFile = join(folder, 'daemon.log')
  writeFileSync(logFile, '')
  const telegram = await startTelegramServer()
  telegram.world.addUser({ id: ADA, firstName: 'Ada' })
  // On its way out the process writes down every script it has run.
  const env = { NODE_V8_COVERAGE: coverage, XDG_STATE_HOME: folder, STATE_DIRECTORY: '' }
  const daemon = new DaemonChild({ entry: PRODUCT, args: ['start', '--config', configFile], env, logFile, telegram })
  onTestFinished(async () => {
    if (daemon.running) await daemon.kill()
    await telegram.close()
    rmSync(folder, { recursive: true })
  })
  const runFiles = async (config: object): Promise<string[]> => {
    // JSON is YAML.
    writeFileSync(configFile, JSON.stringify(config))
    await daemon.start()
    telegram.world.say({ from: ADA, text: 'hello' })
    await telegram.ledger.nextFromBot('sent')
    expect(await daemon.terminate()).toEqual({ code: EXIT.ok, signal: null })
    return filesRun(coverage)
  }
  return { telegram, runFiles, run: async (config) => packagesOf(await runFiles(config)) }
}

interface CoverageReport {
  readonly result: readonly { readonly url: string }[]
}

function filesRun(coverage: string): string[] {
  const reports = readdirSync(coverage).map((name) => readFileSync(join(coverage, name), 'utf8'))
  const scripts = reports.flatMap((report) => (JSON.parse(report) as CoverageReport).result)
  return scripts.filter(({ url }) => url.startsWith('file:')).map(({ url }) => fileURLToPath(url))
}

const PACKAGE = /.*node_modules\/((?:@[^/\s]+\/)?[^/\s]+)\//

/** What the bundler put into each of its files, as it wrote down itself. */
interface BundleReport {
  readonly outputs: Readonly<Record<string, { readonly inputs: Readonly<Record<string, unknown>> }>>
}

/** Packages that were not bundled, and those whose modules are in a file that was run. */
function packagesOf(files: readonly string[]): string[] {
  const { outputs } = JSON.parse(readFileSync(join(dirname(PRODUCT), 'meta.json'), 'utf8')) as BundleReport
  const modules = files.flatMap((file) => [file, ...Object.keys(outputs[relative(ROOT, file)]?.inputs ?? {})])
  return [...new Set(modules.flatMap((module) => PACKAGE.exec(module)?.[1] ?? []))].sort()
}

const people = { ada: { role: 'owner', ids: [`telegram:${ADA}`] } }

describe('what the built program loads', CASE, () => {
  it('only Telegram: neither another platform nor schedules nor the client of a model', async () => {
    const { telegram, run } = await install()
    const accounts = { default: { token: telegram.token, apiRoot: telegram.apiRoot } }
    const agents = [{ id: 'main', model: 'scripted/echo' }]
    const loaded = await run({ people, agents, channels: { telegram: { accounts } } })
    // One of the two versions, under the name that it is installed by.
    expect(loaded.filter((name) => name.startsWith('better-sqlite3'))).toHaveLength(1)
    expect(loaded.filter((name) => HEAVY.test(name))).toEqual([])
  })

  it('only text of one byte a character: one other would double what the engine keeps of a file', async () => {
    const { telegram, runFiles } = await install()
    const accounts = { default: { token: telegram.token, apiRoot: telegram.apiRoot } }
    const files = await runFiles({
      people,
      agents: [{ id: 'main', model: 'scripted/echo' }],
      channels: { telegram: { accounts } },
    })
    const wide = files.filter((file) => file.startsWith(dirname(PRODUCT)) && WIDE.test(readFileSync(file, 'utf8')))
    // The library that reads Markdown has such characters in its own source.
    expect(wide.map((file) => packagesOf([file])).filter((names) => !names.includes('markdown-it'))).toEqual([])
  })

  it('everything configured: each of them is seen, so that the list above proves something', async () => {
    const { telegram, run } = await install()
    const anthropic = await startAnthropicServer()
    const places = [await discordPlace(), await slackPlace()]
    onTestFinished(async () => {
      await anthropic.close()
      for (const place of places) await place.close()
    })
    const accounts = { default: { token: telegram.token, apiRoot: telegram.apiRoot } }
    const others = Object.fromEntries(
      places
        .flatMap(({ accounts: of }) => Object.entries(of))
        .map(([id, account]) => [id, { accounts: { default: account } }]),
    )
    const loaded = await run({
      people,
      agents: [{ id: 'main', model: 'anthropic/rehearsal' }],
      models: { anthropic: { apiKey: anthropic.apiKey, baseUrl: anthropic.baseUrl } },
      channels: { telegram: { accounts }, ...others },
      schedules: [{ id: 'morning', cron: '0 0 1 1 *', prompt: 'hello', deliverTo: `telegram:direct:${ADA}` }],
    })
    const expected = ['discord.js', '@slack/socket-mode', '@slack/web-api', 'node-cron', '@anthropic-ai/sdk']
    expect(loaded).toEqual(expect.arrayContaining(expected))
  })

  it('the library of the web with the first search, which it can use', async () => {
    const { telegram, run } = await install()
    const search = await startSearchServer({ find: () => [{ url: 'https://e.org/', title: 'Walls', text: 'w' }] })
    const find: Reply = { blocks: [{ type: 'tool_use', name: 'web_search', input: { query: 'walls' } }] }
    const anthropic = await startAnthropicServer({
      script: (request) => (toolResult(request) === undefined ? find : textReply(`found: ${toolResult(request)}`)),
    })
    onTestFinished(async () => {
      await anthropic.close()
      await search.close()
    })
    const accounts = { default: { token: telegram.token, apiRoot: telegram.apiRoot, streaming: false } }
    const loaded = await run({
      people,
      agents: [{ id: 'main', model: 'anthropic/rehearsal', tools: ['web'] }],
      models: { anthropic: { apiKey: anthropic.apiKey, baseUrl: anthropic.baseUrl } },
      channels: { telegram: { accounts } },
      tools: { web: { search: { provider: 'tavily', url: search.url, apiKey: search.apiKey } } },
    })
    expect(
      (await telegram.ledger.nextFromBot('sent', { where: ({ text }) => text.includes('found:') })).text,
    ).toContain('"title":"Walls"')
    expect(loaded.filter((name) => HEAVY.test(name))).toEqual(['@anthropic-ai/sdk', 'undici'])
  })
})
