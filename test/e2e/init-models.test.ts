import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { addressesOf } from '../../src/cli/init/choose-model.ts'
import { startAnthropicServer } from '../../src/rehearsal/anthropic/server.ts'
import { REFUSALS, textReply } from '../../src/rehearsal/openai/script.ts'
import { startOpenAiServer } from '../../src/rehearsal/openai/server.ts'
import { startTelegramServer } from '../../src/rehearsal/telegram/server.ts'
import { COMPANY, startCompanyProxy } from '../fakes/company-proxy.ts'
import { KEYS, Newcomer } from './init-terminal.ts'

const { enter, down } = KEYS
const KEY = 'key-of-the-public-server'

/** Somebody at the question for a model, with a bot of Telegram. */
async function newcomerAt(...flags: readonly string[]) {
  const telegram = await startTelegramServer()
  onTestFinished(() => telegram.close())
  const newcomer = new Newcomer({ TELEGRAM_BOT_TOKEN: telegram.token })
  const all = ['--platform', 'telegram', '--api-root', `telegram=${telegram.apiRoot}`, '--no-start', ...flags]
  return { newcomer, all }
}

async function ownServer() {
  const server = await startOpenAiServer({ dialect: 'lm-studio', keyless: true, models: ['qwen3', 'llama3.2'] })
  onTestFinished(() => server.close())
  return { ...server, host: new URL(server.baseUrl).host }
}

test.each([
  ['without a scheme', (host: string) => host],
  ['without its version', (host: string) => `http://${host}`],
  ['with a slash behind it', (host: string) => `http://${host}/`],
  ['of a call', (host: string) => `http://${host}/v1/chat/completions`],
  ["of the server's own API", (host: string) => `http://${host}/api/v0`],
])('init takes the address of a model server %s, and writes the one that has answered', async (_name, typed) => {
  const [server, { newcomer, all }] = await Promise.all([ownServer(), newcomerAt()])
  const terminal = newcomer.types(...all)
  await terminal.answers('Which model shall answer?', down, down, enter)
  await terminal.answers('The address of the server', typed(server.host), enter)
  await terminal.answers('Which of its models?', enter)
  await terminal.shows('It says: "')
  expect(await terminal.ended()).toBe(0)
  expect(newcomer.yaml()).toContain(`baseUrl: http://${server.host}/v1\n`)
  const flagged = await newcomer.runs(['init', ...all, '--model', 'other/qwen3', '--base-url', typed(server.host)])
  expect([flagged.code, flagged.err]).toEqual([0, ''])
  expect(newcomer.yaml()).toMatch(new RegExp(`other:\\s+kind: openai\\s+baseUrl: http://${server.host}/v1\n`))
})

test.each([
  ['llm.example.com:8443/v1', ['https', 'http']],
  ['api.openai.com:443', ['https', 'http']],
  ['203.0.113.9:8000', ['https', 'http']],
  ['10.evil.example:8000', ['https', 'http']],
  ['llm.example.com', ['https']],
  ['192.168.1.5:8443', ['https', 'http']],
  ['192.168.1.5:11434', ['http']],
  ['[::1]:11434', ['http']],
  ['nas.local:11434', ['http']],
  ['nas', ['http']],
])('the address %s without its scheme is asked by %j, and with a key by the first alone', (typed, schemes) => {
  const asked = (key?: string) => [...new Set(addressesOf(typed, key).map((address) => address.split(':')[0]))]
  expect(asked()).toEqual(schemes)
  expect(asked(KEY)).toEqual(schemes.slice(0, 1))
})

test('init sends the key for a public address without its scheme by https alone', async () => {
  const { newcomer, all } = await newcomerAt()
  const asked: string[] = []
  const proxy = createServer().on('connect', (_asked, socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    socket
      .on('error', () => {})
      .once('data', (bytes: Buffer) => {
        asked.push(bytes[0] === TLS ? 'TLS' : bytes.toString())
        socket.destroy()
      })
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void proxy.close())
  const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  Object.assign(newcomer.env, { HTTP_PROXY: address, HTTPS_PROXY: address, NO_PROXY: '127.0.0.1', LLM_KEY: KEY })
  const server = ['--model', 'own/x', '--base-url', 'llm.example.com:8443/v1', '--api-key', 'env:LLM_KEY']
  expect((await newcomer.runs(['init', ...all, ...server])).code).toBe(0)
  expect(newcomer.yaml()).toContain('baseUrl: https://llm.example.com:8443/v1\n')
  expect(new Set(asked)).toEqual(new Set(['TLS']))
})

/** The first byte of a TLS record that begins a handshake. */
const TLS = 0x16

test('init: an address at which no models are listed can be entered again', async () => {
  const [server, { newcomer, all }] = await Promise.all([ownServer(), newcomerAt()])
  const terminal = newcomer.types(...all)
  await terminal.answers('Which model shall answer?', down, down, enter)
  await terminal.answers('The address of the server', '127.0.0.1:9', enter)
  await terminal.answers('Its key', enter)
  await terminal.answers('How to continue?', enter)
  await terminal.answers('◆  The address of the server', server.host, enter)
  await terminal.answers('Which of its models?', enter)
  await terminal.shows('It says: "')
  expect(await terminal.ended()).toBe(0)
  expect(newcomer.yaml()).toContain(`baseUrl: http://${server.host}/v1\n`)
})

test('init: another model of a server that was named by hand is chosen without its address', async () => {
  const [server, { newcomer, all }] = await Promise.all([ownServer(), newcomerAt()])
  server.setScript(({ model }) => (model === 'qwen3' ? REFUSALS.server : textReply('Hello all!')))
  const terminal = newcomer.types(...all)
  await terminal.answers('Which model shall answer?', down, down, enter)
  await terminal.answers('The address of the server', server.host, enter)
  await terminal.answers('Which of its models?', enter)
  await terminal.answers('How to continue?', enter)
  await terminal.answers('Which model shall answer?', down, enter)
  await terminal.shows('It says: "Hello all!"')
  expect(await terminal.ended()).toBe(0)
  expect(newcomer.yaml()).toContain('model: own/llama3.2')
})

/** The public servers of models, at their own addresses behind a proxy. */
async function publicServers({ newcomer }: { readonly newcomer: Newcomer }) {
  const [anthropic, openai] = await Promise.all([
    startAnthropicServer({ apiKey: KEY }),
    startOpenAiServer({ apiKey: KEY }),
  ])
  const hosts = { 'api.anthropic.com': anthropic.baseUrl, 'api.openai.com': openai.baseUrl }
  const proxy = await startCompanyProxy({ hosts, login: 'ada:pass@word' })
  onTestFinished(async () => {
    proxy.close()
    await Promise.all([anthropic.close(), openai.close()])
  })
  const authority = join(newcomer.home, 'ca.pem')
  writeFileSync(authority, COMPANY.cert)
  const address = `http://ada:pass%40word@127.0.0.1:${proxy.port}`
  Object.assign(newcomer.env, { HTTPS_PROXY: address, NODE_EXTRA_CA_CERTS: authority, NO_PROXY: '127.0.0.1' })
}

test.each([
  ['anthropic', 'Anthropic (Claude)', []],
  ['openai', 'OpenAI (GPT)', [down]],
] as const)('init: %s is chosen by a key that is typed, which goes to a file of its own', async (name, title, keys) => {
  const here = await newcomerAt()
  await publicServers(here)
  const terminal = here.newcomer.types(...here.all)
  await terminal.answers('Which model shall answer?', ...keys, enter)
  await terminal.answers(`${title}: key (it is not shown)`, 'a-key-that-is-none', enter)
  await terminal.shows('Wrong: ')
  await terminal.answers('Which model shall answer?', ...keys, enter)
  await terminal.answers(`${title}: key (it is not shown)`, KEY, enter)
  await terminal.shows('It says: "')
  await terminal.shows('it cost')
  expect(await terminal.ended()).toBe(0)
  expect(terminal.raw).not.toContain(KEY)
  expect(here.newcomer.yaml()).toMatch(new RegExp(`model: ${name}/.*\n`))
  expect(here.newcomer.yaml()).toContain(`apiKey: \${file:${name}-api-key}`)
  expect(readFileSync(join(here.newcomer.folder, `${name}-api-key`), 'utf8')).toBe(`${KEY}\n`)
})

test.each(['anthropic', 'openai'] as const)('init: %s is chosen by the key in the environment', async (name) => {
  const here = await newcomerAt()
  await publicServers(here)
  const variable = `${name.toUpperCase()}_API_KEY`
  here.newcomer.env[variable] = KEY
  const terminal = here.newcomer.types(...here.all)
  await terminal.answers('Which model shall answer?', enter)
  await terminal.shows('It says: "')
  expect(await terminal.ended()).toBe(0)
  expect(here.newcomer.yaml()).toContain(`apiKey: \${env:${variable}}`)
  expect(here.newcomer.yaml()).toMatch(new RegExp(`model: ${name}/.*\n`))
})
