import { wordsOf } from './src/hooks/call-words.ts'
import { readJson } from './src/core/read-json.ts'
import { DOORS } from './src/core/doors.ts'
import { createHmac, createHash } from 'node:crypto'
const n = DOORS.hook.bytes
const F='application/x-www-form-urlencoded'
const cases: [string, string|Buffer, string][] = [['escapes','payload='+'%7b'.repeat(n/3),F],['amps','a=b'+'&'.repeat(n-3),F],['fields of 10kB','a=' + ('%7b'.repeat(3400)+'&b=').repeat(980),F],['parts','--x\n'.repeat(n/4),'multipart/form-data; boundary=x'],['gb18030',Buffer.alloc(n,0xff),'text/plain; charset=gb18030'],['plain','x'.repeat(n),'']]
for (const [t,b,c] of cases){ const body=Buffer.from(b as string); const s=performance.now(); wordsOf({body,contentType:c}); console.log(t,Math.round(performance.now()-s)) }
const bb=Buffer.alloc(n,97); let s=performance.now(); createHmac('sha256','x').update(bb).digest(); createHash('sha256').update(bb).digest(); console.log('hashes',Math.round(performance.now()-s))
const h='\\ud83d'; const one='"'+h.repeat(50)+'"'; const chat='['+Array(59000).fill(one).join()+']'; s=performance.now(); readJson(Buffer.from(chat),DOORS.chat); console.log('chat halves MB',chat.length/1e6,Math.round(performance.now()-s))
