"""Django: models with managed = False, so that migrations leave the tables alone. Address: the environment's PGHOST, PGPORT and PGUSER."""

import os

import django
from django.conf import settings

settings.configure(
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "HOST": os.environ["PGHOST"],
            "PORT": os.environ["PGPORT"],
            "USER": os.environ["PGUSER"],
            "NAME": os.environ["PGDATABASE"],
        }
    },
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
)
django.setup()

from django.db import models, transaction  # noqa: E402


class Customer(models.Model):
    name = models.TextField(unique=True)
    since = models.DateField(null=True)

    class Meta:
        app_label = "shop"
        managed = False
        db_table = "customer"


class Purchase(models.Model):
    customer = models.ForeignKey(Customer, models.DO_NOTHING)
    amount = models.DecimalField(max_digits=15, decimal_places=2)
    note = models.TextField(null=True)

    class Meta:
        app_label = "shop"
        managed = False
        db_table = "purchase"


with transaction.atomic():
    bob = Customer.objects.create(name="Bob")
    Purchase.objects.bulk_create([Purchase(customer=bob, amount=amount) for amount in (1, 2, 3)])
Purchase.objects.filter(customer__name="Bob", amount__gt=2).update(note="large")
Purchase.objects.filter(customer__name="Bob", amount=2).delete()
first = Purchase.objects.filter(customer=bob).order_by("amount").first()
first.note = "small"
first.save()
with transaction.atomic():
    Customer.objects.select_for_update().get(name="Bob")
    Customer.objects.update_or_create(name="Bob", defaults={"since": "2026-01-01"})
Customer.objects.bulk_create([Customer(name="Bob")], ignore_conflicts=True)
for row in Purchase.objects.select_related("customer").filter(customer__name="Bob").order_by("amount"):
    print(row.customer.name, row.amount, row.note)
