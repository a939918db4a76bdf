// Posts a text to a conversation and prints the answer to it:
//
//     PARLEY_TOKEN=… node config/examples/ask.mjs api:notes 'What is new?'
//
// With `http: {}` in parley.yaml the daemon listens. `parley token create --owner --scope sessions:write` makes a token that
// speaks for the owner. That of `parley token create api` reaches the sessions of programs alone, and says after the text
// for whom it speaks: an id `api:<name>` of somebody under `people`.
import { ApiError, createClient } from 'parley/client'

const { PARLEY_URL = 'http://127.0.0.1:7275', PARLEY_TOKEN } = process.env
const [session, text, sender] = process.argv.slice(2)

if (session === undefined || text === undefined) {
  console.error("Usage: node ask.mjs <session> '<text>' [sender]")
  process.exit(2)
}
try {
  const answer = await createClient({ baseUrl: PARLEY_URL, token: PARLEY_TOKEN }).agent.prompt(session, {
    text,
    sender,
  })
  // It is `timeout` where the answer takes longer than two minutes: it will be in `session.history`.
  console.log(answer.status === 'ok' ? answer.reply : `${answer.status}: ${answer.error ?? 'look at its history'}`)
  process.exitCode = answer.status === 'ok' ? 0 : 1
} catch (error) {
  if (!(error instanceof ApiError)) throw error
  console.error(`${error.code}: ${error.message}`)
  process.exitCode = 1
}
