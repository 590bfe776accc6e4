// pg-boss: workers that fetch in batches. Its shortest polling interval is half a second, so the workers are loops of fetch and complete.
import { PgBoss } from "pg-boss";

const [url, what, ...rest] = process.argv.slice(2);
const boss = new PgBoss({ connectionString: url, max: 20, supervise: false, schedule: false });
boss.on("error", (error) => console.error(error));
await boss.start();
await boss.deleteQueue("bench").catch(() => {});
await boss.createQueue("bench");
const nanos = () => Number(process.hrtime.bigint());
const sleep = (ms) => new Promise((go) => setTimeout(go, ms));

if (what === "life") {
  const [producers, consumers, batch, seconds] = rest.map(Number);
  let done = 0;
  let made = 0;
  let on = true;
  const producer = async () => {
    while (on) {
      if (made - done > 20000) { await sleep(1); continue; }
      if (batch === 1) await boss.send("bench", {});
      else await boss.insert("bench", Array.from({ length: batch }, () => ({ data: {} })));
      made += batch;
    }
  };
  const consumer = async () => {
    while (on) {
      const jobs = await boss.fetch("bench", { batchSize: batch });
      if (jobs.length === 0) { await sleep(5); continue; }
      await boss.complete("bench", jobs.map((job) => job.id));
      done += jobs.length;
    }
  };
  const running = [...Array.from({ length: producers }, producer), ...Array.from({ length: consumers }, consumer)];
  await sleep(seconds * 333);
  const before = done;
  const began = nanos();
  await sleep(seconds * 1000);
  const rate = (done - before) / ((nanos() - began) / 1e9);
  on = false;
  await Promise.all(running);
  console.log(rate);
} else {
  const count = Number(rest[0]);
  const micros = [];
  for (let i = 0; i < count; i++) {
    await boss.send("bench", { at: nanos() });
    let jobs = [];
    while (jobs.length === 0) jobs = await boss.fetch("bench");
    micros.push((nanos() - jobs[0].data.at) / 1e3);
    await boss.complete("bench", jobs[0].id);
  }
  console.log(micros.join(" "));
}
process.exit(0);
