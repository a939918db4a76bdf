import { Agent, request } from 'node:http'

interface Update {
  readonly update_id: number
  readonly message?: { readonly text?: string; readonly chat: { readonly id: number } }
}

/** No library at all: what is left is HTTP and the rehearsal server, the ceiling of every bot on this machine. */
const agent = new Agent({ keepAlive: true, maxSockets: 128 })
const root = `${process.env.API_ROOT}/bot${process.env.BOT_TOKEN}`

for (let offset = 0; ; ) {
  const { result } = JSON.parse(await call('getUpdates', { offset, timeout: 30 })) as { result: Update[] }
  offset = (result.at(-1)?.update_id ?? offset - 1) + 1
  for (const { message } of result) {
    if (message !== undefined) void call('sendMessage', { chat_id: message.chat.id, text: `echo ${message.text}` })
  }
}

function call(method: string, params: object): Promise<string> {
  const body = JSON.stringify(params)
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  return new Promise((resolve, reject) => {
    const sent = request(`${root}/${method}`, { agent, method: 'POST', headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => resolve(text))
    })
    sent.on('error', reject).end(body)
  })
}
