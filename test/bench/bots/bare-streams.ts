import { createServer, type ServerResponse } from 'node:http'

/** A server of events and nothing else: what a connection costs in Node. Each POST is an event for every reader. */
const readers = new Set<ServerResponse>()

createServer((request, response) => {
  if (request.method === 'POST') {
    let text = ''
    request.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
    })
    request.on('end', () => {
      const frame = Buffer.from(`data: ${text}\n\n`)
      for (const reader of readers) reader.write(frame)
      response.end()
    })
    return
  }
  readers.add(response)
  response.once('close', () => readers.delete(response))
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  response.write('event: start\ndata: {}\n\n')
}).listen(Number(process.env.PORT), '127.0.0.1')
