// graphile-worker: its own pool of workers, with the local queue and batched completions that its documentation recommends.
import { run, makeWorkerUtils, runMigrations } from "graphile-worker";
import pg from "pg";

const [url, what, ...rest] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: url, max: 20 });
await runMigrations({ pgPool: pool });
await pool.query("DELETE FROM graphile_worker._private_jobs");
const utils = await makeWorkerUtils({ pgPool: pool });
const quiet = { error() {}, warning() {}, info() {}, debug() {} };
const { Logger } = await import("graphile-worker");
const logger = new Logger(() => (level, message) => { if (level === "error") console.error(message); });
const nanos = () => Number(process.hrtime.bigint());
const sleep = (ms) => new Promise((go) => setTimeout(go, ms));

if (what === "life") {
  const [producers, consumers, batch, seconds] = rest.map(Number);
  let done = 0;
  let made = 0;
  const runner = await run({
    pgPool: pool, concurrency: consumers, logger, noHandleSignals: true, pollInterval: 100,
    taskList: { bench: async () => { done++; } },
    preset: { worker: { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
  });
  let on = true;
  const producer = async () => {
    while (on) {
      if (made - done > 20000) { await sleep(1); continue; }
      if (batch === 1) await utils.addJob("bench", {});
      else await utils.addJobs(Array.from({ length: batch }, () => ({ identifier: "bench", payload: {} })));
      made += batch;
    }
  };
  const running = Array.from({ length: producers }, producer);
  await sleep(seconds * 333);
  const before = done;
  const began = nanos();
  await sleep(seconds * 1000);
  const rate = (done - before) / ((nanos() - began) / 1e9);
  on = false;
  await Promise.all(running);
  await runner.stop();
  console.log(rate);
} else {
  const count = Number(rest[0]);
  const micros = [];
  let started;
  const runner = await run({
    pgPool: pool, concurrency: 1, logger, noHandleSignals: true,
    taskList: { bench: async (payload) => { micros.push((nanos() - payload.at) / 1e3); started(); } },
  });
  await sleep(500);
  for (let i = 0; i < count; i++) {
    const start = new Promise((go) => { started = go; });
    await utils.addJob("bench", { at: nanos() });
    await start;
    await sleep(3);
  }
  await runner.stop();
  console.log(micros.join(" "));
}
await utils.release();
await pool.end();
process.exit(0);
