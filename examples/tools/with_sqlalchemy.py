"""SQLAlchemy: columns are reflected, keys and references are said here. Address: the environment's PGHOST, PGPORT and PGUSER."""

from sqlalchemy import BigInteger, Column, ForeignKey, Identity, Table, create_engine
from sqlalchemy.orm import Session, declarative_base, relationship

engine = create_engine("postgresql+psycopg2://")
Base = declarative_base()


class Customer(Base):
    __table__ = Table(
        "customer",
        Base.metadata,
        Column("id", BigInteger, Identity(), primary_key=True),
        autoload_with=engine,
    )
    purchases = relationship("Purchase", back_populates="customer")


class Purchase(Base):
    __table__ = Table(
        "purchase",
        Base.metadata,
        Column("id", BigInteger, Identity(), primary_key=True),
        Column("customer_id", ForeignKey("customer.id"), nullable=False),
        autoload_with=engine,
    )
    customer = relationship(Customer, back_populates="purchases")


with Session(engine) as session:
    session.add(Customer(name="Ann", purchases=[Purchase(amount=5), Purchase(amount=7)]))
    session.commit()
    ann = session.query(Customer).filter_by(name="Ann").one()
    ann.purchases[0].note = "first"
    session.delete(ann.purchases[1])
    session.commit()
    for row in session.query(Purchase).join(Customer).filter(Customer.name == "Ann"):
        print(row.customer.name, row.amount, row.note)
