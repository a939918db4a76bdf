import { expect, test } from 'vitest'
import { explainConfig } from '../../src/config/explain.ts'
import { load, TELEGRAM } from './loading.ts'

test('config explain says when checkpoints begin, and which answers are spoken', async () => {
  const { config } = await load(`${TELEGRAM}agents:
  - { id: main, tools: [time, memory], voice: when-spoken-to }
  - { id: other, tools: [time] }
session: { checkpoint: { turns: 7 } }
`)
  const lines = explainConfig(config)
  expect(lines).toContain(
    'session.checkpoint: main looks for what is worth remembering after 7 turns, 20 messages of a group without an answer, or 10 minutes without a message',
  )
  expect(lines.find((line) => line.startsWith('agents.main'))).toMatch(/, answers spoken: when-spoken-to$/)
  expect(lines.find((line) => line.startsWith('agents.other'))).not.toContain('spoken')
  expect(explainConfig((await load(TELEGRAM)).config)).toContain(
    'session.checkpoint: no agent has the tools memory, so there is no checkpoint',
  )
})

test('config explain names rules for tools, servers, own files, hooks and audio, and no secret', async () => {
  const { config } = await load(
    `${TELEGRAM}tools:
  policy: [{ tools: [ask], who: [everybody], in: ["telegram:group:-1"], action: deny }]
  own: { dice: parley.yaml }
  mcp: { notes: { url: "http://127.0.0.1:9/canary", headers: { a: "canary" }, tools: ["read_*", edit], inside: ["read_*"] } }
hooks: { told: { on: after_turn, url: "https://a.example/canary", secret: "canary-canary" } }
audio: { baseUrl: "http://127.0.0.1:8/v1", apiKey: "canary-canary", transcribe: { model: whisper-1 } }
`,
  )
  const lines = explainConfig(config)
  expect(lines).toEqual(
    expect.arrayContaining([
      'tools.policy[0]: ask for everybody in telegram:group:-1: deny',
      'tools.policy: else what acts outside of its conversation is asked about, and the rest is allowed',
      'tools.mcp.notes: the server at http://127.0.0.1:9, the tools read_*, edit, a yes for all but read_*, calls are not checked',
      expect.stringMatching(/^tools\.own\.dice: .*parley\.yaml, which runs in the daemon$/),
      'hooks.told: after_turn: https://a.example, for 2000 ms at most',
      'audio: voice notes are transcribed by whisper-1, no answer is spoken, at http://127.0.0.1:8',
    ]),
  )
  expect(lines.filter((line) => !line.startsWith('warning')).join('\n')).not.toContain('canary')
})

test('config explain says how many turns a session has, and where the API listens', async () => {
  const own = await load(`${TELEGRAM}session: { turnCap: { chat: 200, api: 0 } }
http: { port: 0, hosts: [parley.example.org], origins: ["https://app.example.org"] }
`)
  const caps = 'session.turnCap: the turns of a session at most:'
  const lines = explainConfig(own.config)
  expect(lines).toContain(`${caps} api 50, cli 50, web 50, chat 200, schedule unlimited`)
  expect(lines).toContain(
    'http: the API listens on 127.0.0.1, a free port, reached as parley.example.org too, used by the pages of https://app.example.org',
  )
  const plain = explainConfig((await load(TELEGRAM)).config)
  expect(plain).toContain(`${caps} api 50, cli 50, web 50, chat unlimited, schedule unlimited`)
  expect(plain).toContain('http: none; the API listens on a socket that only this user opens')
})
