// knex: nothing special is needed. Address: the environment's PGHOST, PGPORT, PGUSER and PGDATABASE.
const knex = require('knex')({ client: 'pg', connection: {} });

(async () => {
  const [{ id }] = await knex('customer').insert({ name: 'Dee' }).returning('id');
  await knex.transaction(async (transaction) => {
    await transaction('purchase').insert([{ customer_id: id, amount: 4 }, { customer_id: id, amount: 6 }]);
    await transaction('purchase').where({ customer_id: id, amount: 6 }).update({ note: 'six' });
  });
  // Sets every column, the key, too.
  await knex('customer').insert({ id, name: 'Dee', since: '2026-02-02' }).onConflict('id').merge();
  const rows = await knex('purchase').join('customer', 'customer.id', 'purchase.customer_id')
    .where('name', 'Dee').orderBy('amount').select('name', 'amount', 'note');
  rows.forEach((row) => console.log(row.name, row.amount, row.note));
  await knex.destroy();
})();
